import { effect, signal } from '@preact/signals';
import { type ApiError, call, type Reply } from '../api/call.js';
import type { Hint } from '../api/stream.js';
import type { FlagPage, ListedFlag } from '../api/types.js';
import { isLetIn } from './session.js';

/** The flags of one project, or of all: `''`. The first page is shown while the rest arrives by thousands. */
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
let opened: Pick<FlagList, 'project' | 'archived'> | undefined;

/** Shows the flags of a project, and keeps them current. */
export function openFlagList(project: string, archived: boolean): void {
  opened = { project, archived };
  const current = flagList.peek();
  if (current?.project === project && current.archived === archived && current.error === undefined) return;
  flagList.value = undefined;
  void load(project, archived);
}

export function reloadFlagList(): void {
  if (opened !== undefined) void load(opened.project, opened.archived);
}

async function load(project: string, archived: boolean): Promise<void> {
  running.abort();
  running = new AbortController();
  const { signal: stop } = running;
  const former = flagList.peek();
  const flags: ListedFlag[] = [];
  try {
    const scope = { archived, ...(project && { project }) };
    let query: Record<string, string | number | boolean> | undefined = { ...scope, limit: FIRST_PAGE };
    while (query !== undefined) {
      const { data, next }: Reply<FlagPage> = await call('listAllFlags', { query, signal: stop });
      flags.push(...data.features);
      const after: string | null | undefined = next?.get('after');
      query = after ? { ...scope, limit: PAGE, after } : undefined;
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
      error: Object.assign(error as ApiError, { retry: reloadFlagList }),
    };
  }
}

/** Events that arrive together cause one reading. */
const DELAY = 100;
/** With more flags than this, the whole list is read. */
const MAX_SINGLE = 5;
/** Flags to read again; undefined: all of them. */
let pending: Set<string> | undefined = new Set();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Reads flags again after an event: the one of the hint, or all. */
export function applyHint(hint: Hint): void {
  const current = flagList.peek();
  if (hint.project != null && current?.project && hint.project !== current.project) return;
  if (hint.featureName == null) pending = undefined;
  else pending?.add(hint.featureName);
  clearTimeout(timer);
  timer = setTimeout(() => void readPending(), DELAY);
}

async function readPending(): Promise<void> {
  // A list that is being read may have been read before the event: look again when it is there.
  if (!flagList.peek()?.isComplete) {
    timer = setTimeout(() => void readPending(), DELAY);
    return;
  }
  const names = pending;
  pending = new Set();
  if (names === undefined || names.size > MAX_SINGLE) reloadFlagList();
  else await readFlags([...names]);
}

/** Reads single flags of the list again. */
export async function readFlags(names: readonly string[]): Promise<void> {
  const current = flagList.peek();
  if (current === undefined || !current.isComplete) return;
  const { project, archived } = current;
  try {
    for (const name of names) {
      // Of all names that begin so, the name itself is the first.
      const query = { archived, ...(project && { project }), namePrefix: name, limit: 1 };
      const { data } = await call('listAllFlags', { query });
      const found = data.features.find((flag) => flag.name === name);
      replace(name, found);
    }
  } catch {
    reloadFlagList();
  }
}

function replace(name: string, found: ListedFlag | undefined): void {
  const current = flagList.peek();
  if (current === undefined) return;
  const rest = current.flags.filter((flag) => flag.name !== name);
  const flags = found === undefined ? rest : [...rest, found];
  flagList.value = { ...current, flags, total: current.total + flags.length - current.flags.length };
}

effect(() => {
  if (isLetIn.value) return;
  opened = undefined;
  flagList.value = undefined;
});
