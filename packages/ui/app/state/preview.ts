import { effect, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type ApiError, call } from '../api/call.js';
import type { Change, Context, FlagDetail, PreviewedFlag, Segment } from '../api/types.js';
import { type ContextFields, missingFields } from '../model/context-fields.js';
import { variantName } from '../words.js';
import { version } from './changes.js';
import { samples, sampleText } from './samples.js';

/** How many of the sampled users change. */
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

interface PreviewState {
  readonly key: string;
  readonly flags: readonly Previewed[] | undefined;
  readonly error: ApiError | undefined;
}

/** Typing does not send a request for each letter. */
const DELAY = 150;

/** Previews changes over the sampled users, or over one context; undefined until the first answer. Later answers replace it. */
export function usePreview(proposed: readonly Change[], environment: string, only?: Context) {
  // Without revisions: the preview is about the newest state, also while another change arrives.
  const changes = proposed.map(({ ifRevision: _ifRevision, ...change }) => change);
  const key = JSON.stringify([changes, environment, version.value, only ?? sampleText.value]);
  const state = useSignal<PreviewState>({ key: '', flags: undefined, error: undefined });
  useEffect(() => {
    if (changes.length === 0) {
      state.value = { key, flags: [], error: undefined };
      return;
    }
    const running = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const contexts = only ? [only] : samples.value.map(({ context }) => context);
        const body = { changes, environment, contexts };
        const { data } = await call('previewChanges', { body, signal: running.signal });
        const flags = data.flags.map(async (flag): Promise<Previewed> => {
          const missing =
            only || isDecided(flag) ? new Map() : await readMissing(flag, { changes, environment, contexts });
          return { ...flag, missing };
        });
        const known = await Promise.all(flags);
        if (!running.signal.aborted) state.value = { key, flags: known, error: undefined };
      } catch (error) {
        if (!running.signal.aborted) state.value = { key, flags: undefined, error: error as ApiError };
      }
    }, DELAY);
    return () => {
      clearTimeout(timer);
      running.abort();
    };
  }, [key]);
  const { flags, error } = state.value;
  return { flags, error, isCurrent: state.value.key === key };
}

/** Documents of the newest state; what cannot be read is empty. */
const documents = new Map<string, Promise<unknown>>();
effect(() => {
  version.value;
  documents.clear();
});

function readOnce<T>(key: string, read: () => Promise<T>, empty: T): Promise<T> {
  const reading = (documents.get(key) as Promise<T> | undefined) ?? read().catch(() => empty);
  documents.set(key, reading);
  return reading;
}

function readSegments(): Promise<readonly Segment[]> {
  return readOnce('', async () => (await call('listSegments')).data.segments, []);
}

/** Reasons that no context changes. */
const DECIDED = new Set<string>(['disabled', 'no_strategies', 'unknown_flag', 'broken_flag']);

function isDecided({ contexts }: PreviewedFlag): boolean {
  return contexts.every(({ before, after }) => DECIDED.has(before.reason) && DECIDED.has(after.reason));
}

interface Preview {
  readonly changes: readonly Change[];
  readonly environment: string;
  readonly contexts: readonly Context[];
}

/** Reads which fields a flag and its parents need and no context has. */
async function readMissing(flag: PreviewedFlag, { changes, environment, contexts }: Preview): Promise<ContextFields> {
  const names = new Set<string>();
  const stored = await readWithParents(flag, environment, names);
  const own = changes.filter(
    ({ ref = {} }) =>
      (ref.environment ?? environment) === environment && (ref.flag === undefined || names.has(String(ref.flag))),
  );
  return missingFields({ changes: own, stored, segments: await readSegments(), contexts });
}

/** Reads what decides about a flag in one environment: its own parts, and those of the flags that it depends on. */
async function readWithParents(
  { project, flag }: Pick<PreviewedFlag, 'project' | 'flag'>,
  environment: string,
  names: Set<string>,
): Promise<readonly unknown[]> {
  if (names.has(flag)) return [];
  names.add(flag);
  const read = async () => (await call('getFlag', { params: { project, flag } })).data;
  const { variants, environments = [], dependencies = [] } = await readOnce<Partial<FlagDetail>>(flag, read, {});
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
