import { call } from '../api/call.js';
import { type Loaded, useQuery } from '../api/resource.js';
import type { Rollout } from '../api/types.js';

/** Selects rollouts. All given members must match. */
interface RolloutFilter {
  readonly state?: Rollout['state'] | undefined;
  readonly project?: string | undefined;
  readonly flag?: string | undefined;
}

/** The largest page of the API. */
const PAGE = 1_000;

/** Reads the rollouts of a flag: active ones, then ended ones, the latest first. */
export function useRolloutsOf(flag: { readonly project: string; readonly flag: string } | undefined) {
  return useRollouts(flag, async (signal) => (flag ? readRollouts(flag, signal) : []));
}

const ACTIVE = ['running', 'waiting', 'paused'] as const;

/** Reads the active rollouts of a project, or of all projects. Ended ones, of which there may be many, are not read. */
export function useActiveRollouts(filter: { readonly project: string | undefined } | undefined) {
  return useRollouts(filter && { ...filter, states: ACTIVE }, async (signal) => {
    const found = await Promise.all(ACTIVE.map((state) => readRollouts({ ...filter, state }, signal)));
    return found.flat();
  });
}

function useRollouts(
  parameters: object | undefined,
  read: (signal: AbortSignal) => Promise<readonly Rollout[]>,
): Loaded<readonly Rollout[]> {
  return useQuery(
    parameters && {
      action: 'listRollouts',
      parameters,
      read: async ({ signal }) => ({ data: (await read(signal)).toSorted(compareRollouts) }),
    },
  );
}

async function readRollouts(filter: RolloutFilter, signal: AbortSignal): Promise<readonly Rollout[]> {
  const found: Rollout[] = [];
  for (let after: string | undefined; ; ) {
    const { data } = await call('listRollouts', { query: { ...filter, limit: PAGE, after }, signal });
    found.push(...data.rollouts);
    after = data.next;
    if (after === undefined) return found;
  }
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
