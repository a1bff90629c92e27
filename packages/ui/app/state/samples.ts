import { computed, signal } from '@preact/signals';
import type { Context } from '../api/types.js';
import { type ContextFields, usersWith } from '../model/context-fields.js';
import { plural } from '../words.js';
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

/** The users that a preview counts. */
export interface Users {
  readonly samples: readonly Sample[];
  /** "made-up users". */
  readonly noun: string;
  /** Their groups: "200 with country DE, 200 without". */
  readonly groups?: string;
}

/** The pasted users; undefined if the list is empty. */
export const pastedUsers = computed<Users | undefined>(() => {
  const samples = samplesOf(sampleText.value);
  return samples.length === 0 ? undefined : { samples, noun: 'users of the list' };
});

/** Users with ids only, which suffice for a rollout. */
export const MADE_UP: Users = {
  samples: Array.from({ length: MAX_SAMPLES }, (_, index) => withSession(String(index + 1))),
  noun: 'made-up users',
};

/** Made-up users with the context fields of a preview; undefined if no value of them is known. */
export function createSampleUsers(fields: ContextFields): Users | undefined {
  const made = usersWith(fields);
  if (made === undefined) return undefined;
  const samples = samplesOf(made.text).map(({ name, context }) => withSession(name, context));
  return { samples, noun: 'made-up users', groups: made.label };
}

export function recentUsers(contexts: readonly Context[]): Users | undefined {
  const samples = contexts.slice(0, MAX_SAMPLES).map((context) => ({ name: context.userId ?? '', context }));
  return samples.length === 0 ? undefined : { samples, noun: 'recently seen users' };
}

/** Names users: "20 made-up users". */
export function describeUsers({ samples: { length }, noun }: Users): string {
  return plural(length, noun.replace('users', 'user'), noun);
}

function withSession(name: string, context: Context = {}): Sample {
  return { name, context: { userId: name, sessionId: name, ...context } };
}

function samplesOf(text: string): readonly Sample[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter(Boolean).slice(0, MAX_SAMPLES).map(sampleOf);
}

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
