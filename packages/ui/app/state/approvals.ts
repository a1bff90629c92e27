import { approvalsFor, type NeededApprovals } from '@flags/core/admin';
import { computed } from '@preact/signals';
import type { ApiError } from '../api/call.js';
import { fetchResource, lookUp } from '../api/resource.js';
import type { ApprovalPolicy, Plan } from '../api/types.js';
import { currentProject } from '../router.js';
import { offers } from './session.js';

const EMPTY: ApprovalPolicy = { environments: {} };

function isReadable(): boolean {
  return offers('getApprovalPolicy', currentProject());
}

/** The environments whose changes need approval; undefined until the API has replied, and without the permission. */
export const loadedPolicy = computed<ApprovalPolicy | undefined>(() =>
  isReadable() ? lookUp('getApprovalPolicy', {}).data : undefined,
);

/** The environments whose changes need approval; none while that is unknown. */
export const approvalPolicy = computed<ApprovalPolicy>(() => loadedPolicy.value ?? EMPTY);

/** Returns the approvals that planned changes need. Without a policy or a plan, only the service knows. */
export async function findApprovals(plan: Plan | undefined): Promise<NeededApprovals | undefined> {
  if (plan === undefined || !isReadable()) return undefined;
  const policy = await fetchResource('getApprovalPolicy', {}).catch(() => EMPTY);
  return approvalsFor(plan.effects, policy);
}

/** Returns the approvals that a refused change needs: its issues name the environments. */
export function approvalsOf({ details }: Pick<ApiError, 'details'>): NeededApprovals {
  const names = details.flatMap(({ path = '' }) => path.match(/^\/environments\/([^/]+)/)?.[1] ?? []);
  const environments = [...new Set(names)].map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const counts = environments.map((name) => approvalPolicy.value.environments[name]?.required ?? 1);
  return { environments, required: Math.max(1, ...counts) };
}
