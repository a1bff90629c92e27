import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type ApiError, call } from '../api/call.js';
import type { Change, Context, PreviewedFlag } from '../api/types.js';
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

interface PreviewState {
  readonly key: string;
  readonly flags: readonly PreviewedFlag[] | undefined;
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
        const body = { changes, environment, contexts: only ? [only] : samples.value.map(({ context }) => context) };
        const { data } = await call('previewChanges', { body, signal: running.signal });
        state.value = { key, flags: data.flags, error: undefined };
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
