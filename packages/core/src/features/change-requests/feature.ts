import { describeObject } from '../../base/inputs.js';
import type { OpenedFeature } from '../../kernel/feature.js';
import { describeKind } from '../../kernel/restorer.js';
import { requestDocuments } from './change-request.kind.js';
import {
  changeRequestApproval,
  changeRequestQuery,
  changeRequestTime,
  newChangeRequest,
} from './change-request.schema.js';
import { changeRequestOperations } from './change-requests.operations.js';
import { DueRequests, type DueRequestsOptions } from './due-requests.js';
import { createApprovalGate } from './gate.js';
import { policyDocuments } from './policy.kind.js';
import { createEmptyPolicy, policyOperations } from './policy.operations.js';
import { approvalPolicy } from './policy.schema.js';
import type { RequestParts, SharedRequestEngine } from './request-engine.js';

/** The options of the host that change requests read. */
export interface RequestOptions {
  readonly due?: Omit<DueRequestsOptions, 'actor'>;
  readonly actor: string;
}

function open(engine: SharedRequestEngine, { due, actor }: RequestOptions): OpenedFeature<RequestParts> {
  const gate = createApprovalGate(engine);
  const dueRequests = new DueRequests(engine, { ...due, actor });
  return { parts: { gate, dueRequests }, rules: gate, due: dueRequests };
}

export const changeRequestsFeature = {
  name: 'change-requests',
  kinds: [describeKind(requestDocuments), describeKind(policyDocuments)],
  inputs: {
    approvalPolicy: describeObject(approvalPolicy),
    newChangeRequest: describeObject(newChangeRequest),
    changeRequestApproval: describeObject(changeRequestApproval),
    changeRequestTime: describeObject(changeRequestTime),
    changeRequestQuery: describeObject(changeRequestQuery),
  },
  operations: { ...policyOperations, ...changeRequestOperations },
  open,
  seed: createEmptyPolicy,
} as const;
