import { call } from '../api/call.js';
import { type QueryState, useQuery } from '../api/resource.js';
import type { Rollout } from '../api/types.js';
import { currentProject } from '../router.js';
import { offers } from './session.js';

/** The largest page of the API. */
const PAGE = 1_000;

/** Reads the rollouts of a project, or of all. With `undefined` it waits. */
export function useRollouts(
  filter: { readonly project?: string | undefined } | undefined,
): QueryState<readonly Rollout[]> {
  const { project } = filter ?? {};
  return useQuery<readonly Rollout[]>(
    filter && offers('listRollouts', project ?? currentProject())
      ? {
          action: 'listRollouts',
          parameters: { project },
          async read({ signal }) {
            const found: Rollout[] = [];
            for (let after: string | undefined; ; ) {
              const { data } = await call('listRollouts', { query: { project, limit: PAGE, after }, signal });
              found.push(...data.rollouts);
              after = data.next;
              if (after === undefined) return { data: found };
            }
          },
        }
      : undefined,
  );
}
