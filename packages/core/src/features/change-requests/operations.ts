import type { PageQuery } from '../../base/common.types.js';
import type { ChangeEngine } from '../../changesets/engine.js';
import { type CallOperation, CHANGE_REQUEST, NO_REFERENCE } from '../../engine/operation.js';
import type { ChangeRequestApproval, ChangeRequestQuery, ChangeRequestTime } from './change-request.js';
import type {
  ApplyContext,
  ChangeRequestOptions,
  ChangeRequestRef,
  DecisionContext,
  NewChangeRequest,
} from './change-request.types.js';
import * as requests from './change-requests.operations.js';
import * as decisions from './decisions.operations.js';
import { getApprovalPolicy } from './policy.operations.js';

function operation<Ref, Input, Context, Result>(
  row: CallOperation<Ref, Input, Context | undefined, Result, ChangeEngine>,
) {
  return row;
}

/** The operations of change requests that run themselves. `setApprovalPolicy` is an operation of change requests too. */
export const changeRequestOperations = {
  createChangeRequest: operation({
    method: 'changeRequests.create',
    ref: NO_REFERENCE,
    input: 'newChangeRequest',
    run: (engine, { input, context }: Call<undefined, NewChangeRequest, Pick<ChangeRequestOptions, 'actor'>>) =>
      requests.createChangeRequest(engine, input, context),
  }),
  getChangeRequest: operation({
    method: 'changeRequests.get',
    ref: CHANGE_REQUEST,
    run: (engine, { ref }: Call<ChangeRequestRef, undefined, undefined>) => requests.getChangeRequest(engine, ref),
  }),
  listChangeRequests: operation({
    method: 'changeRequests.list',
    ref: NO_REFERENCE,
    input: 'changeRequestQuery',
    run: (engine, { input, context: page }: Call<undefined, ChangeRequestQuery, PageQuery>) =>
      requests.listChangeRequests(engine, input, { page }),
  }),
  approveChangeRequest: operation({
    method: 'changeRequests.approve',
    ref: CHANGE_REQUEST,
    input: 'changeRequestApproval',
    run: (engine, { ref, input, context }: Call<ChangeRequestRef, ChangeRequestApproval, DecisionContext>) =>
      decisions.approveChangeRequest(engine, ref, input, context),
  }),
  rejectChangeRequest: operation({
    method: 'changeRequests.reject',
    ref: CHANGE_REQUEST,
    run: (engine, { ref, context }: Call<ChangeRequestRef, undefined, DecisionContext>) =>
      decisions.rejectChangeRequest(engine, ref, context),
  }),
  withdrawChangeRequest: operation({
    method: 'changeRequests.withdraw',
    ref: CHANGE_REQUEST,
    run: (engine, { ref, context }: Call<ChangeRequestRef, undefined, DecisionContext>) =>
      decisions.withdrawChangeRequest(engine, ref, context),
  }),
  applyChangeRequest: operation({
    method: 'changeRequests.apply',
    ref: CHANGE_REQUEST,
    input: 'changeRequestTime',
    run: (engine, { ref, input, context }: Call<ChangeRequestRef, ChangeRequestTime, ApplyContext>) =>
      decisions.applyChangeRequest(engine, ref, input, context),
  }),
  getApprovalPolicy: operation({
    method: 'approvalPolicy.get',
    ref: NO_REFERENCE,
    run: (engine, _: Call<undefined, undefined, undefined>) => getApprovalPolicy(engine),
  }),
};

interface Call<Ref, Input, Context> {
  readonly ref: Ref;
  readonly input: Input;
  readonly context: Context | undefined;
}
