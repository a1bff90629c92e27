import type { ListPage, PageQuery } from '../../base/common.types.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import { CHANGE_REQUEST, call, defineOperations, NO_REFERENCE } from '../../kernel/operation.js';
import type { ChangeRequestApproval, ChangeRequestQuery, ChangeRequestTime } from './change-request.js';
import type {
  ApplyContext,
  ChangeRequest,
  ChangeRequestOptions,
  ChangeRequestRef,
  DecisionContext,
  ListedChangeRequest,
  RequestedChange,
} from './change-request.types.js';
import * as decisions from './decisions.js';
import * as requests from './requests.js';

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

/** Operations on changes that wait for a time, for approval, or for both: `flags.changeRequests`. */
export class ChangeRequests<Own extends string = never> extends Namespace {
  /**
   * Requests changes. They are validated and planned immediately: what `apply` would refuse is refused now, except for a
   * missing approval. They are decided again when the request is applied: by a person, or by itself at the time `at`, as soon
   * as it has the approvals that it needs. What needs no approval and has no time is approved at once.
   *
   * With an `id` that was used before by the same author, for the same changes, times and options, it returns that request
   * as it is now.
   *
   * @param changes those of `apply`, or `setApprovalPolicy`; or, alone, `undoChangeSet`
   * @throws FlagsError as `apply`; `due_disabled` for a time without the option `due`; `invalid_input` also for the times,
   * and beyond 100 waiting requests of one person, 1,000 of all, or 64 MiB of them; `id_taken`; with `replaces`
   * `change_request_not_found`, `change_request_not_open`
   * @example
   * const ada = flags.as({ name: 'Ada', id: 'u-7' });
   * const { id } = await ada.changeRequests.create([{ op: 'enable', ref: production }], { reason: 'Launch' });
   */
  create(changes: readonly RequestedChange<Own>[], options?: ChangeRequestOptions): Promise<ChangeRequest> {
    const input = { ...Object(options), changes };
    return run(this, changeRequestOperations.createChangeRequest, { input, context: options });
  }

  /**
   * Returns a request, its present state, and what it would do now. One that has ended exists for 90 days more.
   *
   * @throws FlagsError `change_request_not_found`
   * @example
   * const { state, effect } = await flags.changeRequests.get({ changeRequest: id });
   */
  get(ref: ChangeRequestRef): Promise<ChangeRequest> {
    return run(this, changeRequestOperations.getChangeRequest, { ref });
  }

  /**
   * Lists requests by id, which is the order of their creation unless callers chose the ids. They have the state of the
   * last decision about them; `get` says the present one.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const { items } = await flags.changeRequests.list({ state: 'open', project: 'default' });
   */
  list(query: ChangeRequestQuery = {}, page?: PageQuery): Promise<ListPage<ListedChangeRequest>> {
    return run(this, changeRequestOperations.listChangeRequests, { input: query, context: page });
  }

  /**
   * Approves what the person has seen. The author cannot, nor an API token. People are compared by the ids that `flags.as`
   * gets, otherwise by their names. The second approval of a person replaces the first. An approval counts while the
   * request would do what was approved. Where no approval is needed it changes nothing.
   *
   * @param approval the `effect` of the request as the person has read it
   * @throws FlagsError `change_request_not_found`, `change_request_not_open`, `own_change_request`, `revision_mismatch`;
   * `effect_changed`: the request would now do something else; `forbidden` for an API token; as `apply`, if the changes
   * would be refused
   * @example
   * const { effect } = await flags.changeRequests.get({ changeRequest: id });
   * await flags.as({ name: 'Grace', id: 'u-9' }).changeRequests.approve({ changeRequest: id }, { effect });
   */
  approve(ref: ChangeRequestRef, approval: ChangeRequestApproval, context?: DecisionContext): Promise<ChangeRequest> {
    return run(this, changeRequestOperations.approveChangeRequest, { ref, input: approval, context });
  }

  /**
   * Ends a request of somebody else, also one with a time.
   *
   * @throws FlagsError `change_request_not_found`, `change_request_not_open`, `own_change_request`, `revision_mismatch`;
   * `forbidden` for an API token
   * @example
   * await flags.as('grace@example.org').changeRequests.reject({ changeRequest: id }, { reason: 'Not on a Friday' });
   */
  reject(ref: ChangeRequestRef, context?: DecisionContext): Promise<ChangeRequest> {
    return run(this, changeRequestOperations.rejectChangeRequest, { ref, context });
  }

  /**
   * Takes a request back, also one with a time, and one of somebody else.
   *
   * @throws FlagsError `change_request_not_found`, `change_request_not_open`, `revision_mismatch`
   * @example
   * await flags.changeRequests.withdraw({ changeRequest: id });
   */
  withdraw(ref: ChangeRequestRef, context?: DecisionContext): Promise<ChangeRequest> {
    return run(this, changeRequestOperations.withdrawChangeRequest, { ref, context });
  }

  /**
   * Applies a request as one change set: now, also before its time, or at a time, which replaces an earlier one. Its
   * changes are decided again. A refusal leaves the request as it is.
   *
   * @param time absent, or without `at`: now
   * @param context `id`: of the change set; it makes the call safe to repeat
   * @throws FlagsError as `apply`; `change_request_not_found`, `change_request_not_open`; now: `approval_required` (too few
   * approvals of what it would do now); with a time: `due_disabled`, `invalid_input`
   * @example
   * await flags.changeRequests.apply({ changeRequest: id });
   */
  apply(ref: ChangeRequestRef, time: ChangeRequestTime = {}, context?: ApplyContext): Promise<ChangeRequest> {
    return run(this, changeRequestOperations.applyChangeRequest, { ref, input: time, context });
  }
}
