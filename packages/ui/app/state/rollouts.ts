import { call } from '../api/call.js';
import { type Loaded, useQuery } from '../api/resource.js';
import type { Rollout } from '../api/types.js';

/** Selects rollouts. All given members must match. */
export interface RolloutFilter {
  readonly project?: string | undefined;
  readonly flag?: string | undefined;
}

/** The largest page of the API. */
const PAGE = 1_000;

/** Reads the rollouts that go on, in the order of their flags, and the ended ones, the latest at the top. */
export function useRollouts(filter: RolloutFilter | undefined): Loaded<readonly Rollout[]> {
  return useQuery(
    filter && {
      action: 'listRollouts',
      parameters: filter,
      read: async ({ signal }) => {
        const found: Rollout[] = [];
        for (let after: string | undefined; ; ) {
          const { data } = await call('listRollouts', { query: { ...filter, limit: PAGE, after }, signal });
          found.push(...data.rollouts);
          after = data.next;
          if (after === undefined) return { data: found.toSorted(compareRollouts) };
        }
      },
    },
  );
}

function compareRollouts(one: Rollout, other: Rollout): number {
  const [ended, otherEnded] = [one.endedAt ?? '', other.endedAt ?? ''];
  if (ended === '' && otherEnded === '') return one.ref.flag.localeCompare(other.ref.flag);
  if (ended === '' || otherEnded === '') return ended === '' ? -1 : 1;
  return otherEnded.localeCompare(ended);
}

export function isActive({ endedAt }: Rollout): boolean {
  return endedAt === null;
}
