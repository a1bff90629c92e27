import type { ChangeContext } from '../../base/common.types.js';
import { isSameJson } from '../../base/json.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import type { Engine, PreparedChange } from '../../kernel/engine.js';
import { type Call, call, defineOperations, NO_REFERENCE, singleOperation } from '../../kernel/operation.js';
import type { DocumentKey } from '../../storage/port.js';
import { notByToken } from '../tokens/people.js';
import {
  APPROVAL_POLICY,
  type ApprovalPolicy,
  EMPTY_POLICY,
  type KnownApprovalPolicy,
  toKnownPolicy,
} from './policy.js';
import { policyDocuments } from './policy.kind.js';

export const POLICY_KEY: DocumentKey = { kind: policyDocuments.kind, id: APPROVAL_POLICY };

function setApprovalPolicy(
  { settings }: Engine,
  _: unknown,
  input: ApprovalPolicy,
): PreparedChange<KnownApprovalPolicy> {
  const environments = Object.fromEntries(
    Object.entries(input.environments).map(([name, { required }]) => [name, { required }]),
  );
  return {
    subject: POLICY_KEY,
    async decide(unit, by) {
      if (by.actorToken) throw notByToken('set the approval policy');
      const before = (await unit.read(policyDocuments, APPROVAL_POLICY))?.state ?? EMPTY_POLICY;
      if (isSameJson(before.environments, environments)) return;
      const event = { type: 'approval-policy-updated', data: { environments }, before } as const;
      await unit.apply(policyDocuments, APPROVAL_POLICY, [event]);
    },
    result: () => toKnownPolicy({ environments }, settings.environments),
  };
}

async function getApprovalPolicy({ read, settings }: Engine): Promise<KnownApprovalPolicy> {
  return toKnownPolicy((await read(policyDocuments, APPROVAL_POLICY))?.state ?? EMPTY_POLICY, settings.environments);
}

/**
 * Returns the change that creates the empty policy with the first events of a storage. It has no event, so nothing is
 * committed for it alone.
 */
export function createEmptyPolicy({ memory }: Engine): readonly PreparedChange[] {
  if (memory.get(POLICY_KEY)) return [];
  const change: PreparedChange = {
    subject: POLICY_KEY,
    async decide(unit) {
      if (!(await unit.read(policyDocuments, APPROVAL_POLICY))) {
        await unit.put(policyDocuments, APPROVAL_POLICY, EMPTY_POLICY);
      }
    },
    result: () => undefined,
  };
  return [change];
}

export const policyOperations = defineOperations({
  setApprovalPolicy: singleOperation({
    method: 'approvalPolicy.set',
    ref: NO_REFERENCE,
    input: 'approvalPolicy',
    isInRequests: true,
    prepare: setApprovalPolicy,
  }),
  getApprovalPolicy: call({
    method: 'approvalPolicy.get',
    ref: NO_REFERENCE,
    run: (engine: Engine, _: Call) => getApprovalPolicy(engine),
  }),
});

/** Operations on the environments whose changes need approval: `flags.approvalPolicy`. */
export class ApprovalPolicies extends Namespace {
  /**
   * Names the environments whose changes need approval, and how many people must approve. It replaces the whole policy.
   * While it names an environment, every change that its clients could see is refused with `approval_required`, unless
   * it only switches flags off. An environment that loses approvals needs the approval that it loses. A name that is not an
   * environment of this engine is accepted, because another process may have it; the result names it.
   *
   * @throws FlagsError `invalid_input`, `approval_required`; `forbidden` for an API token
   * @example
   * await flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
   */
  set(policy: ApprovalPolicy, context?: Omit<ChangeContext, 'id' | 'ifRevision'>): Promise<KnownApprovalPolicy> {
    return run(this, policyOperations.setApprovalPolicy, { input: policy, context });
  }

  /**
   * Returns the environments whose changes need approval: none in a new store.
   *
   * @example
   * const { environments } = await flags.approvalPolicy.get();
   */
  get(): Promise<KnownApprovalPolicy> {
    return run(this, policyOperations.getApprovalPolicy, {});
  }
}
