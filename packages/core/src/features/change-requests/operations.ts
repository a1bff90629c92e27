import { type CallOperation, CHANGE_REQUEST, NO_REFERENCE } from '../../engine/operation.js';
import * as requests from './change-requests.operations.js';
import * as decisions from './decisions.operations.js';
import type { RequestEngine } from './engine.js';
import { getApprovalPolicy } from './policy.operations.js';

function operation<Ref, Input, Context, Result>(
  method: string,
  row: Omit<CallOperation<Ref, Input, Context | undefined, Result, RequestEngine>, 'method'>,
) {
  return { method, ...row };
}

const ref = CHANGE_REQUEST;

/** The operations of change requests that run themselves. `setApprovalPolicy` is an operation of change requests too. */
export const changeRequestOperations = {
  createChangeRequest: operation('changeRequests.create', {
    ref: NO_REFERENCE,
    input: 'newChangeRequest',
    run: requests.createChangeRequest,
  }),
  getChangeRequest: operation('changeRequests.get', { ref, run: requests.getChangeRequest }),
  listChangeRequests: operation('changeRequests.list', {
    ref: NO_REFERENCE,
    input: 'changeRequestQuery',
    run: requests.listChangeRequests,
  }),
  approveChangeRequest: operation('changeRequests.approve', {
    ref,
    input: 'changeRequestApproval',
    run: decisions.approveChangeRequest,
  }),
  rejectChangeRequest: operation('changeRequests.reject', { ref, run: decisions.rejectChangeRequest }),
  withdrawChangeRequest: operation('changeRequests.withdraw', { ref, run: decisions.withdrawChangeRequest }),
  applyChangeRequest: operation('changeRequests.apply', {
    ref,
    input: 'changeRequestTime',
    run: decisions.applyChangeRequest,
  }),
  getApprovalPolicy: operation('approvalPolicy.get', { ref: NO_REFERENCE, run: getApprovalPolicy }),
};
