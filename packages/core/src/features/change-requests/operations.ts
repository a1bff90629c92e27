import { CHANGE_REQUEST, call, defineOperations, NO_REFERENCE } from '../../kernel/operation.js';
import * as requests from './change-requests.operations.js';
import * as decisions from './decisions.operations.js';

const ref = CHANGE_REQUEST;

/** The operations of change requests. */
export const changeRequestOperations = defineOperations({
  createChangeRequest: call({
    method: 'changeRequests.create',
    ref: NO_REFERENCE,
    input: 'newChangeRequest',
    run: requests.createChangeRequest,
  }),
  getChangeRequest: call({ method: 'changeRequests.get', ref, run: requests.getChangeRequest }),
  listChangeRequests: call({
    method: 'changeRequests.list',
    ref: NO_REFERENCE,
    input: 'changeRequestQuery',
    run: requests.listChangeRequests,
  }),
  approveChangeRequest: call({
    method: 'changeRequests.approve',
    ref,
    input: 'changeRequestApproval',
    run: decisions.approveChangeRequest,
  }),
  rejectChangeRequest: call({ method: 'changeRequests.reject', ref, run: decisions.rejectChangeRequest }),
  withdrawChangeRequest: call({ method: 'changeRequests.withdraw', ref, run: decisions.withdrawChangeRequest }),
  applyChangeRequest: call({
    method: 'changeRequests.apply',
    ref,
    input: 'changeRequestTime',
    run: decisions.applyChangeRequest,
  }),
});
