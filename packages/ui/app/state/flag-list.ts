import { effect, signal } from '@preact/signals';
import { type ApiError, call, type Reply } from '../api/call.js';
import type { Hint } from '../api/stream.js';
import type { FlagPage, ListedFlag } from '../api/types.js';
import { isLetIn } from './session.js';

/** The flags of one project. The first page is shown while the rest arrives by thousands. */
interface FlagList {
  readonly project: string;
  readonly archived: boolean;
  readonly flags: readonly ListedFlag[];
  readonly total: number;
  readonly isComplete: boolean;
  readonly error: ApiError | undefined;
}

const FIRST_PAGE = 100;
const PAGE = 1_000;

export const flagList = signal<FlagList | undefined>(undefined);
let running = new AbortController();

/** Shows the flags of a project, and keeps them current. */
export function openFlagList(project: string, archived: boolean): void {
  const current = flagList.peek();
  if (current?.project === project && current.archived === archived && current.error === undefined) return;
  flagList.value = undefined;
  void load(project, archived);
}

export function reloadFlagList(): void {
  const current = flagList.peek();
  if (current !== undefined) void load(current.project, current.archived);
}

async function load(project: string, archived: boolean): Promise<void> {
  running.abort();
  running = new AbortController();
  const { signal: stop } = running;
  const former = flagList.peek();
  const flags: ListedFlag[] = [];
  try {
    let query: Record<string, string | number | boolean> | undefined = { project, archived, limit: FIRST_PAGE };
    while (query !== undefined) {
      const { data, next }: Reply<FlagPage> = await call('listAllFlags', { query, signal: stop });
      flags.push(...data.features);
      const after: string | null | undefined = next?.get('after');
      query = after ? { project, archived, limit: PAGE, after } : undefined;
      // A list that is known already stays until its new state is complete.
      if (former === undefined || query === undefined) {
        const isComplete = query === undefined;
        flagList.value = { project, archived, flags: [...flags], total: data.total, isComplete, error: undefined };
      }
    }
  } catch (error) {
    if (stop.aborted) return;
    flagList.value = {
      ...(former ?? { project, archived, flags, total: flags.length, isComplete: false }),
      error: error as ApiError,
    };
  }
}

/** Events that arrive together cause one request. */
const DELAY = 150;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Reads the list again after an event. */
export function applyHint(hint?: Hint): void {
  const current = flagList.peek();
  if (current === undefined || (hint?.project != null && hint.project !== current.project)) return;
  clearTimeout(timer);
  timer = setTimeout(reloadFlagList, DELAY);
}

effect(() => {
  if (!isLetIn.value) flagList.value = undefined;
});
