import { call } from '../api/call.js';
import { type Loaded, useQuery } from '../api/resource.js';
import type { ListedSchedule, Plan } from '../api/types.js';

export type ScheduleState = ListedSchedule['state'];

/** Selects schedules. All given members must match. */
export interface ScheduleFilter {
  readonly state?: ScheduleState | undefined;
  readonly project?: string | undefined;
  readonly flag?: string | undefined;
}

/** The largest page of the API. */
const PAGE = 1_000;

/** Reads schedules: the pending ones first, the next one at the top, then the ended ones, the latest at the top. */
export function useSchedules(filter: ScheduleFilter | undefined): Loaded<readonly ListedSchedule[]> {
  return useQuery(
    filter && {
      action: 'listSchedules',
      parameters: filter,
      // The API lists them in the order of their ids.
      read: async ({ signal, show }) => {
        const found: ListedSchedule[] = [];
        for (let after: string | undefined; ; ) {
          const { data } = await call('listSchedules', { query: { ...filter, limit: PAGE, after }, signal });
          found.push(...data.schedules);
          after = data.next;
          const sorted = found.toSorted(compareSchedules);
          if (after === undefined) return { data: sorted };
          show(sorted);
        }
      },
    },
  );
}

function compareSchedules(one: ListedSchedule, other: ListedSchedule): number {
  const [ended, otherEnded] = [one.endedAt ?? '', other.endedAt ?? ''];
  if (ended === '' && otherEnded === '') return one.at.localeCompare(other.at) || one.id.localeCompare(other.id);
  if (ended === '' || otherEnded === '') return ended === '' ? -1 : 1;
  return otherEnded.localeCompare(ended);
}

/** What a pending schedule would change if it were due now. Its error says why it would fail. */
export function useSchedulePlan(id: string): Loaded<Plan> {
  return useQuery({
    action: 'planChanges',
    parameters: { schedule: id },
    read: async ({ signal }) => {
      const { data } = await call('getSchedule', { params: { schedule: id }, signal });
      return call('planChanges', { body: { changes: data.changes }, signal });
    },
  });
}
