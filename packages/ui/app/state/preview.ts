import { type ApiError, call } from '../api/call.js';
import { fetchResource, type Query, useLatest } from '../api/resource.js';
import { pause } from '../api/stream.js';
import type { Change, Context, FlagDetail, PreviewedFlag } from '../api/types.js';
import { type ContextFields, missingFields } from '../model/context-fields.js';
import { variantName } from '../words.js';
import { samples, sampleText } from './samples.js';

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
}

/** Debounces the requests while the user types. A draft that is being saved is not previewed again. */
const DELAY = 150;

export interface PreviewState {
  /** Undefined until the first reply. Later replies replace it. */
  readonly flags: readonly Previewed[] | undefined;
  readonly error: ApiError | undefined;
  readonly isCurrent: boolean;
}

/** Previews changes over the sampled users, or over one context. */
export function usePreview(proposed: readonly Change[], environment: string, only?: Context): PreviewState {
  // Without revisions, the preview uses the newest state even if another user has changed the flag.
  const changes = proposed.map(({ ifRevision: _ifRevision, ...change }) => change);
  const parameters = JSON.stringify([changes, environment, only ?? sampleText.value]);
  const isAsked = changes.length > 0;
  const { data, error, isCurrent } = useLatest(isAsked ? previewQuery(parameters) : undefined);
  return isAsked ? { flags: data, error, isCurrent } : { flags: NONE, error: undefined, isCurrent: true };
}

const NONE: readonly Previewed[] = [];

function previewQuery(parameters: string): Query<readonly Previewed[]> {
  const [changes, environment, users]: [Change[], string, Context | string] = JSON.parse(parameters);
  const contexts = typeof users === 'string' ? samples.peek().map(({ context }) => context) : [users];
  const preview = { changes, environment, contexts };
  return {
    action: 'previewChanges',
    parameters,
    async read({ signal }) {
      await pause(DELAY, signal);
      signal.throwIfAborted();
      const { data } = await call('previewChanges', { body: preview, signal });
      const flags = data.flags.map(async (flag): Promise<Previewed> => {
        const isKnown = typeof users !== 'string' || isDecided(flag);
        return { ...flag, missing: isKnown ? new Map() : await readMissing(flag, preview) };
      });
      return { data: await Promise.all(flags) };
    },
  };
}

/** Reasons that do not depend on the context. */
const DECIDED = new Set<string>(['disabled', 'no_strategies', 'unknown_flag', 'broken_flag']);

function isDecided({ contexts }: PreviewedFlag): boolean {
  return contexts.every(({ before, after }) => DECIDED.has(before.reason) && DECIDED.has(after.reason));
}

interface Preview {
  readonly changes: readonly Change[];
  readonly environment: string;
  readonly contexts: readonly Context[];
}

const NOTHING: Partial<FlagDetail> = {};

/** Reads the context fields that a flag and its parents need and no context has. */
async function readMissing(flag: PreviewedFlag, { changes, environment, contexts }: Preview): Promise<ContextFields> {
  const names = new Set<string>();
  const stored = await readWithParents(flag, environment, names);
  const own = changes.filter(
    ({ ref = {} }) =>
      (ref.environment ?? environment) === environment && (ref.flag === undefined || names.has(String(ref.flag))),
  );
  const { segments } = await fetchResource('listSegments', {}).catch(() => ({ segments: [] }));
  return missingFields({ changes: own, stored, segments, contexts });
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
