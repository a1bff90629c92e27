import type { FlagEffect } from './effect.decide.js';

const PREFERRED_ENVIRONMENT = 'production';

/**
 * Returns the default environment of evaluations and commands: `production`, or else the first.
 * Evaluating production by mistake is safer than evaluating development by mistake.
 */
export function defaultEnvironment(environments: readonly string[]): string {
  return environments.includes(PREFERRED_ENVIRONMENT)
    ? PREFERRED_ENVIRONMENT
    : (environments[0] ?? PREFERRED_ENVIRONMENT);
}

/** The environments that need a review. */
export interface ReviewScope {
  /** The environments that the host lists, in its order. */
  readonly environments: readonly string[];
  /** The option `reviewIn`; undefined if it is not set. */
  readonly reviewIn: readonly string[] | undefined;
}

/**
 * Returns whether changes of an environment need a review: those in `reviewIn`. Default: `production`, or else the last
 * one, and all environments that the host does not list, because one of them may be somebody's production.
 */
export function isReviewed(environment: string, { environments, reviewIn }: ReviewScope): boolean {
  if (reviewIn) return reviewIn.includes(environment);
  const isListed = environments.includes(environment);
  if (!isListed || environments.includes(PREFERRED_ENVIRONMENT))
    return !isListed || environment === PREFERRED_ENVIRONMENT;
  return environment === environments.at(-1);
}

/**
 * Returns the effects that need a review: those in reviewed environments, including switching off. A new flag that is
 * off does not: no client has used it yet.
 */
export function effectsToReview<E extends Pick<FlagEffect, 'environment' | 'before' | 'after'>>(
  effects: readonly E[],
  scope: ReviewScope,
): readonly E[] {
  return effects.filter((effect) => !isNewAndOff(effect) && isReviewed(effect.environment, scope));
}

/**
 * Returns the number of hidden effects (on flags that the caller may not read) that need a review: all of them, because
 * their environments are unknown. None if no environment is reviewed.
 */
export function hiddenToReview(hiddenEffects: number, { reviewIn }: ReviewScope): number {
  return reviewIn?.length === 0 ? 0 : hiddenEffects;
}

/** Returns whether an effect needs no approval in any environment: switching a flag off is free. */
export function isFreeOfApproval({ before, after }: Pick<FlagEffect, 'before' | 'after'>): boolean {
  return after === 'off' && before !== 'off';
}

function isNewAndOff({ before, after }: Pick<FlagEffect, 'before' | 'after'>): boolean {
  return before === 'absent' && after === 'off';
}

/** The words for an effect, for one flag and for several. */
const WORDS: Readonly<Record<string, readonly [one: string, several: string]>> = {
  'absent on': ['appears, on', 'appear, on'],
  'off on': ['goes on', 'go on'],
  'on off': ['goes off', 'go off'],
  'on absent': ['disappears, and was on', 'disappear, and were on'],
  'off absent': ['disappears, and was off', 'disappear, and were off'],
  'on on': ['is on, and changes', 'are on, and change'],
  'off off': ['is off, and its payloads are added or removed', 'are off, and their payloads are added or removed'],
};

const MOST_NAMES = 10;

/**
 * Describes the changes that clients would notice, one line per environment and kind of difference: "production: 2
 * flags go off: base, child". Leaves out new flags that are off.
 */
export function describeEffects(effects: readonly Omit<FlagEffect, 'project'>[]): readonly string[] {
  const groups = new Map<string, { readonly effect: Omit<FlagEffect, 'project'>; readonly flags: string[] }>();
  for (const effect of effects.filter((one) => !isNewAndOff(one))) {
    const key = `${effect.environment} ${effect.before} ${effect.after}`;
    const known = groups.get(key);
    if (known) known.flags.push(effect.flag);
    else groups.set(key, { effect, flags: [effect.flag] });
  }
  return [...groups.values()].map(({ effect: { environment, before, after }, flags }) => {
    const [one, several] = WORDS[`${before} ${after}`] ?? [];
    const count = flags.length === 1 ? `1 flag ${one}` : `${flags.length.toLocaleString('en')} flags ${several}`;
    const rest = flags.length - MOST_NAMES;
    const more = rest > 0 ? ` and ${rest.toLocaleString('en')} more` : '';
    return `${environment}: ${count}: ${flags.slice(0, MOST_NAMES).join(', ')}${more}`;
  });
}
