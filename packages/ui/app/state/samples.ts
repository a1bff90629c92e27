import { computed, signal } from '@preact/signals';
import type { Context } from '../api/types.js';
import { contextFromText } from './view-as.js';

const KEY = 'flags-ui:samples';
/** The maximum number of contexts in a preview. */
export const MAX_SAMPLES = 1_000;

/** The pasted list, one user per line; stored for this tab only, because it may contain personal data. */
export const sampleText = signal(sessionStorage.getItem(KEY) ?? '');

export function keepSamples(text: string): void {
  sampleText.value = text;
  if (text === '') sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, text);
}

export interface Sample {
  readonly name: string;
  readonly context: Context;
}

/** The users of the preview: the pasted ones, or made-up ids, which suffice for a rollout. */
export const samples = computed<readonly Sample[]>(() => {
  const lines = sampleText.value.split('\n').map((line) => line.trim());
  const pasted = lines.filter(Boolean).slice(0, MAX_SAMPLES).map(sampleOf);
  return pasted.length > 0 ? pasted : MADE_UP;
});

/** The noun for the users of a preview. */
export const sampleNoun = computed(() => (samples.value === MADE_UP ? 'made-up users' : 'users of the list'));

const MADE_UP: readonly Sample[] = Array.from({ length: MAX_SAMPLES }, (_, index) => {
  const userId = String(index + 1);
  return { name: userId, context: { userId, sessionId: userId } };
});

/** A line is a context as JSON, fields such as `userId=7&country=DE`, or a user id. */
function sampleOf(line: string): Sample {
  if (line.startsWith('{')) {
    try {
      const context: Context = JSON.parse(line);
      return { name: context.userId ?? line, context };
    } catch {
      return { name: line, context: { userId: line } };
    }
  }
  const context = line.includes('=') ? contextFromText(line.replaceAll(/[,;]\s*/g, '&')) : undefined;
  return { name: context?.userId ?? line, context: context ?? { userId: line } };
}
