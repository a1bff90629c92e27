import type { ChangeContext } from '../base/common.types.js';
import type { ApprovalPolicy } from './policy.js';

/** Operations on the approvals that changes need. */
export interface ApprovalOperations {
  /**
   * Names the environments whose changes need approval, and how many people must approve. It replaces the whole policy.
   * While it names an environment, every change that its clients could see is refused with `approval_required`, unless
   * it only switches flags off. An environment that loses approvals needs the approval that it loses.
   *
   * @throws FlagsError `invalid_input`, `approval_required`
   * @example
   * await flags.setApprovalPolicy({ environments: { production: { required: 1 } } });
   */
  setApprovalPolicy(
    policy: ApprovalPolicy,
    context?: Omit<ChangeContext, 'id' | 'ifRevision'>,
  ): Promise<ApprovalPolicy>;

  /**
   * Returns the environments whose changes need approval: none in a new store.
   *
   * @example
   * const { environments } = await flags.getApprovalPolicy();
   */
  getApprovalPolicy(): Promise<ApprovalPolicy>;
}
