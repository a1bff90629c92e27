import { computed } from '@preact/signals';
import type { ApiError } from '../api/call.js';
import { lookUp } from '../api/resource.js';
import type { ApprovalPolicy, Plan } from '../api/types.js';
import { currentProject } from '../router.js';
import { offers } from './session.js';

/** The approval that changes need. */
export type NeededApproval = NonNullable<Plan['approval']>;

/** The environments whose changes need approval; undefined until the API has replied, and without the permission. */
export const loadedPolicy = computed<ApprovalPolicy | undefined>(() =>
  offers('getApprovalPolicy', currentProject()) ? lookUp('getApprovalPolicy', {}).data : undefined,
);

/** Returns the approval that a refused change needs: its issues name the environments. */
export function approvalOf({ details }: Pick<ApiError, 'details'>): NeededApproval {
  const names = details.flatMap(({ path = '' }) => path.match(/^\/environments\/([^/]+)/)?.[1] ?? []);
  const environments = [...new Set(names)].map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const counts = environments.map((name) => loadedPolicy.value?.environments[name]?.required ?? 1);
  return { environments, required: Math.max(1, ...counts) };
}
