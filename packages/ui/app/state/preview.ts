import { type ApiError, call } from '../api/call.js';
import { abortReads, fetchResource, invalidate, type Query, useLatest } from '../api/resource.js';
import { pause } from '../api/stream.js';
import type { Change, Context, FlagDetail, Plan, PreviewedFlag } from '../api/types.js';
import { type ContextFields, missingFields } from '../model/context-fields.js';
import { currentProject } from '../router.js';
import { variantName } from '../words.js';
import { createSampleUsers, MADE_UP, pastedUsers, recentUsers, sampleText, type Users } from './samples.js';
import { offers } from './session.js';

/** Counts the sampled users by their change. */
export interface PreviewCounts {
  readonly before: number;
  readonly after: number;
  readonly becomeOn: number;
  readonly becomeOff: number;
  readonly otherVariant: number;
}

/** A previewed flag, and the context fields that it reads but no sampled user has: its counts may be wrong. */
export interface Previewed extends PreviewedFlag {
  readonly missing: ContextFields;
  /** In the order of the contexts. */
  readonly users: Users;
}

/** Debounces the requests while the user types. */
const DELAY = 150;

export interface PreviewState {
  /** Undefined until the first reply. Later replies replace it. */
  readonly flags: readonly Previewed[] | undefined;
  readonly error: ApiError | undefined;
  readonly isCurrent: boolean;
}

/** The subject of a preview: changes, or the undo of a change set with the documents of its plan. */
export interface PreviewSubject {
  readonly changes: readonly Change[];
  readonly undoes?: { readonly id: string; readonly documents: Plan['documents'] } | undefined;
}

/** Previews changes over the users of the list or others that suit them, or over one context. */
export function usePreview(
  { changes: proposed, undoes }: PreviewSubject,
  environment: string,
  only?: Context,
): PreviewState {
  const changes = withoutRevisions(proposed);
  const isAsked = changes.length > 0 || undoes !== undefined;
  const query = isAsked ? previewQuery({ changes, undoes, environment }, only) : undefined;
  const { data, error, isCurrent } = useLatest(query);
  return isAsked ? { flags: data, error, isCurrent } : { flags: NONE, error: undefined, isCurrent: true };
}

/** The previews of several environments. */
interface Previews extends Omit<PreviewState, 'flags'> {
  /** The previewed flags by environment, as far as they have arrived. */
  readonly environments: ReadonlyMap<string, readonly Previewed[]>;
}

/** Previews changes in several environments, in their order: the first ones are shown while the others are counted. */
export function usePreviews(proposed: PreviewSubject | undefined, environments: readonly string[]): Previews {
  const changes = withoutRevisions(proposed?.changes ?? []);
  const undoes = proposed?.undoes;
  const isAsked = environments.length > 0 && (changes.length > 0 || undoes !== undefined);
  const query: Query<Previews['environments']> = {
    action: 'previewChanges',
    parameters: [changes, undoes?.id, environments, sampleText.value],
    async read({ signal, show }) {
      await pauseBefore(signal);
      const found = new Map<string, readonly Previewed[]>();
      for (const environment of environments) {
        signal.throwIfAborted();
        found.set(environment, await readPreview({ changes, undoes, environment }, undefined, signal));
        show(new Map(found));
      }
      return { data: found };
    },
  };
  const { data = NO_PREVIEWS, error, isCurrent } = useLatest(isAsked ? query : undefined);
  return { environments: data, error, isCurrent };
}

const NO_PREVIEWS: Previews['environments'] = new Map();
const NONE: readonly Previewed[] = [];

/** Without revisions, the preview uses the newest state even if another user has changed the flag. */
function withoutRevisions(changes: readonly Change[]): readonly Change[] {
  return changes.map(({ ifRevision: _ifRevision, ...change }) => change);
}

interface Preview extends PreviewSubject {
  readonly environment: string;
}

function previewQuery(preview: Preview, only: Context | undefined): Query<readonly Previewed[]> {
  const { changes, undoes, environment } = preview;
  return {
    action: 'previewChanges',
    parameters: [changes, undoes?.id, environment, only ?? sampleText.value],
    async read({ signal }) {
      await pauseBefore(signal);
      signal.throwIfAborted();
      return { data: await readPreview(preview, only, signal) };
    },
  };
}

let isApplying = false;
const PREVIEWS = ['previewChanges', 'previewUndo'] as const;

/**
 * Holds the previews back while changes are being applied. The event of the change would ask for them again, before the page
 * knows that its draft is applied, and they would name strategies that are gone.
 */
export async function whileApplying(work: () => Promise<void>): Promise<void> {
  isApplying = true;
  abortReads(...PREVIEWS);
  try {
    await work();
  } catch (error) {
    invalidate(...PREVIEWS);
    throw error;
  } finally {
    isApplying = false;
  }
}

/** Waits before a request until the user has stopped typing, and until changes that are being applied have been. */
async function pauseBefore(signal: AbortSignal): Promise<void> {
  do await pause(DELAY, signal);
  while (isApplying && !signal.aborted);
}

async function readPreview(
  preview: Preview,
  only: Context | undefined,
  signal: AbortSignal,
): Promise<readonly Previewed[]> {
  if (only) {
    const flags = await evaluate(preview, { samples: [{ name: '', context: only }], noun: '' }, signal);
    return flags.map((flag) => ({ ...flag, missing: new Map() }));
  }
  const first = pastedUsers.peek() ?? (await readRecentUsers()) ?? MADE_UP;
  const flags = await withMissing(preview, await evaluate(preview, first, signal));
  // A list that somebody has pasted is never replaced.
  const fields = new Map(flags.flatMap(({ missing }) => [...missing]));
  const made = pastedUsers.peek() === undefined ? createSampleUsers(fields) : undefined;
  return made === undefined ? flags : withMissing(preview, await evaluate(preview, made, signal));
}

/** Reads the users that the process has evaluated last. Undefined if it keeps none or the caller may not read them. */
async function readRecentUsers(): Promise<Users | undefined> {
  if (!offers('listRecentContexts', currentProject())) return undefined;
  const { contexts } = await fetchResource('listRecentContexts', {}).catch(() => ({ contexts: [] }));
  return recentUsers(contexts);
}

type Evaluated = Omit<Previewed, 'missing'>;

async function evaluate(
  { changes, undoes, environment }: Preview,
  users: Users,
  signal: AbortSignal,
): Promise<readonly Evaluated[]> {
  const query = { environment, contexts: users.samples.map(({ context }) => context) };
  const { data } =
    undoes === undefined
      ? await call('previewChanges', { body: { ...query, changes }, signal })
      : await call('previewUndo', { params: { id: undoes.id }, body: query, signal });
  return data.flags.map((flag) => ({ ...flag, users }));
}

function withMissing(preview: Preview, flags: readonly Evaluated[]): Promise<readonly Previewed[]> {
  return Promise.all(
    flags.map(async (flag) => ({
      ...flag,
      missing: isDecided(flag) ? new Map() : await readMissing(flag, preview),
    })),
  );
}

/** Reasons that do not depend on the context. */
const DECIDED = new Set<string>(['disabled', 'no_strategies', 'unknown_flag', 'broken_flag']);

function isDecided({ contexts }: PreviewedFlag): boolean {
  return contexts.every(({ before, after }) => DECIDED.has(before.reason) && DECIDED.has(after.reason));
}

const NOTHING: Partial<FlagDetail> = {};

/** Reads the context fields that a flag and its parents need and no user has. */
async function readMissing(flag: Evaluated, { changes, undoes, environment }: Preview): Promise<ContextFields> {
  const names = new Set<string>();
  const stored = await readWithParents(flag, environment, names);
  const own = changes.filter(
    ({ ref = {} }) =>
      (ref.environment ?? environment) === environment && (ref.flag === undefined || names.has(String(ref.flag))),
  );
  const restored = (undoes?.documents ?? []).flatMap(({ kind, id, after }) =>
    kind === 'segment' || names.has(id) ? inEnvironment(after, environment) : [],
  );
  const { segments } = await fetchResource('listSegments', {}).catch(() => ({ segments: [] }));
  const contexts = flag.users.samples.map(({ context }) => context);
  return missingFields({ changes: [own, restored], stored, segments, contexts });
}

/** Returns a document without its other environments. */
function inEnvironment(document: unknown, environment: string): unknown {
  const { environments = [], ...rest } = Object(document) as { readonly environments?: readonly { name: string }[] };
  return { ...rest, environments: environments.filter(({ name }) => name === environment) };
}

/** Reads the documents that decide about a flag in one environment: its own configuration and that of its parents. */
async function readWithParents(
  { project, flag }: Pick<PreviewedFlag, 'project' | 'flag'>,
  environment: string,
  names: Set<string>,
): Promise<readonly unknown[]> {
  if (names.has(flag)) return [];
  names.add(flag);
  const reading: Promise<Partial<FlagDetail>> = fetchResource('getFlag', { params: { project, flag } });
  // Documents that cannot be read need no fields.
  const { variants, environments = [], dependencies = [] } = await reading.catch(() => NOTHING);
  const parents = dependencies.map(({ feature }) => readWithParents({ project, flag: feature }, environment, names));
  return [variants, environments.filter(({ name }) => name === environment), ...(await Promise.all(parents))];
}

export function countPreview({ before, after, contexts }: PreviewedFlag): PreviewCounts {
  const count = (matches: (context: (typeof contexts)[number]) => boolean) => contexts.filter(matches).length;
  return {
    before: before.enabled,
    after: after.enabled,
    becomeOn: count((context) => !context.before.enabled && context.after.enabled),
    becomeOff: count((context) => context.before.enabled && !context.after.enabled),
    otherVariant: count(
      (context) =>
        context.before.enabled &&
        context.after.enabled &&
        variantName(context.before.variant) !== variantName(context.after.variant),
    ),
  };
}
