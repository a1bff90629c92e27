import {
  LIST_NOUNS,
  percentageParameter,
  STRATEGIES,
  shareOf,
  stickyField,
  unknownInStrategy,
} from '../evaluation/strategies.js';

/** A part of a flag's audience: what one strategy admits. Everybody if it has a `rollout` of 100 and nothing else. */
export interface AudiencePart {
  /** The percentage, 0–100. */
  readonly rollout: number;
  /** The id of the segment that is the only condition. */
  readonly segment?: number;
  /** A list of values. The noun is for one of them, such as `user`. */
  readonly list?: { readonly noun: string; readonly count: number };
  /** The context field without which the flag is off, although the percentage is 100. */
  readonly field?: string;
  /** Other conditions: constraints, several segments, a custom strategy, or more than two strategies. */
  readonly targeted?: boolean;
  /** The parts of the strategy that the host does not know: "flexibleRolout unknown here: never on". It never holds. */
  readonly unknown?: string;
}

/** A strategy, stored or as the HTTP API sends it. */
interface Shown {
  readonly name: string;
  readonly disabled?: boolean | undefined;
  readonly parameters?: Readonly<Record<string, unknown>> | null | undefined;
  readonly constraints?: readonly unknown[] | null | undefined;
  readonly segments?: readonly number[] | null | undefined;
}

const EVERYBODY: readonly AudiencePart[] = Object.freeze([Object.freeze({ rollout: 100 })]);
const NOBODY: readonly AudiencePart[] = Object.freeze([Object.freeze({ rollout: 0 })]);
const TARGETED: readonly AudiencePart[] = Object.freeze([Object.freeze({ rollout: 100, targeted: true })]);

/** An audience with more parts reads `targeted`, because a cell of a list has no room for them. */
const MOST_PARTS = 2;

/**
 * Summarizes whom strategies admit: one part for each strategy, or one for all, and one for all that is unknown. Empty
 * without strategies.
 *
 * @param own the host's own strategies; absent: not known, so that nothing is called unknown
 */
export function audienceOf(strategies: readonly Shown[], own?: readonly string[]): readonly AudiencePart[] {
  if (own === undefined) return audienceOfKnown(strategies);
  const active = strategies.filter(({ disabled }) => disabled !== true);
  const known = active.filter(({ name }) => STRATEGIES.has(name) || own.includes(name));
  const unknown = [
    ...new Set(active.flatMap((one) => unknownInStrategy(one, own).map((text) => `${one.name} ${text}`))),
  ];
  if (unknown.length === 0) return audienceOfKnown(strategies);
  const summary = unknown.slice(0, MOST_PARTS).join(', ');
  return [...(known.length === 0 ? NOBODY : audienceOfKnown(known)), { rollout: 0, unknown: summary }];
}

function audienceOfKnown(strategies: readonly Shown[]): readonly AudiencePart[] {
  if (strategies.length === 0) return [];
  const parts = strategies.filter(({ disabled }) => disabled !== true).flatMap((one) => partOf(one) ?? []);
  if (parts.some(isEverybody)) return EVERYBODY;
  if (parts.length === 0) return NOBODY;
  const distinct = [...new Map(parts.map((part) => [JSON.stringify(part), part])).values()];
  return distinct.length <= MOST_PARTS ? distinct : TARGETED;
}

/** Whether every context gets the flag by this strategy. */
export function admitsEverybody(strategy: Shown): boolean {
  const part = partOf(strategy);
  return part !== undefined && isEverybody(part);
}

function isEverybody(part: AudiencePart): boolean {
  return part.rollout === 100 && Object.keys(part).length === 1;
}

/** Returns undefined for a strategy that never holds. */
function partOf(strategy: Shown): AudiencePart | undefined {
  const part = ownAudience(strategy);
  const [segment, ...others] = strategy.segments ?? [];
  const hasConstraints = Boolean(strategy.constraints?.length);
  if (!part || (segment === undefined && !hasConstraints)) return part;
  if (part.list || part.targeted) return { rollout: 100, targeted: true };
  const isSegment = segment !== undefined && others.length === 0 && !hasConstraints;
  return { rollout: part.rollout, ...(isSegment ? { segment } : { targeted: true }) };
}

/** Returns whom a strategy admits without its constraints and segments. With unreadable parameters it never holds. */
function ownAudience({ name, parameters }: Pick<Shown, 'name' | 'parameters'>): AudiencePart | undefined {
  const known = STRATEGIES.get(name);
  if (!known) return { rollout: 100, targeted: true };
  const { field, noun } = known;
  const [first] = known.parameters;
  if (first === undefined) return { rollout: 100 };
  const value = parameters?.[first.name];
  if (first.type !== 'percentage') {
    return noun ? audienceOfList(value, noun.one) : { rollout: 100, targeted: true };
  }
  const rollout = shareOf(value);
  try {
    const isSticky = known.parameters.some((parameter) => parameter.name === 'stickiness');
    const needed = isSticky ? stickyField(parameters ?? {}) : field;
    return rollout === 0 ? undefined : { rollout, ...(rollout === 100 && needed !== undefined && { field: needed }) };
  } catch {
    return undefined;
  }
}

/** @param noun names one value of the list */
function audienceOfList(values: unknown, noun: string): AudiencePart | undefined {
  const count = typeof values === 'string' ? values.split(',').filter((value) => value.trim() !== '').length : 0;
  return count === 0 ? undefined : { rollout: 100, list: { noun, count } };
}

/**
 * Returns the percentage of a strategy, 0–100; undefined for strategies that have none. As in evaluation, an unreadable
 * percentage counts as 0.
 */
export function rolloutOf(strategy: Pick<Shown, 'name' | 'parameters'>): number | undefined {
  return percentageParameter(strategy.name) === undefined ? undefined : (ownAudience(strategy)?.rollout ?? 0);
}

/**
 * Says who gets a flag while it is on: "100 %" only if everybody does, else "20 % + 3 users", "25 % of EU customers" or
 * "targeted". Empty without strategies.
 *
 * @param segmentName returns the name of a segment; undefined if the caller does not know it
 */
export function describeAudience(
  audience: readonly AudiencePart[],
  segmentName: (id: number) => string | undefined,
): string {
  return audience.map((part) => describePart(part, segmentName)).join(' + ');
}

function describePart(
  { rollout, segment, list, field, targeted, unknown }: AudiencePart,
  segmentName: (id: number) => string | undefined,
): string {
  if (unknown !== undefined) return unknown;
  if (list) return `${list.count.toLocaleString('en')} ${list.count === 1 ? list.noun : pluralOf(list.noun)}`;
  const share = `${rollout} %`;
  if (segment !== undefined) {
    const name = segmentName(segment) ?? `segment ${segment}`;
    return rollout === 100 ? name : `${share} of ${name}`;
  }
  if (targeted) return rollout === 100 ? 'targeted' : `${share} targeted`;
  return field === undefined ? share : `${share} with ${field}`;
}

/** A later release of the server may send other nouns. */
function pluralOf(noun: string): string {
  return LIST_NOUNS.get(noun) ?? `${noun}s`;
}

/** A flag in one environment, as lists show it. */
interface ShownState {
  readonly enabled: boolean;
  readonly audience: readonly AudiencePart[];
  readonly offBecauseOf?: string | null | undefined;
}

/** Says who gets a flag in an environment: the audience, "off", or "off because of PARENT". */
export function describeState(
  { enabled, offBecauseOf, audience }: ShownState,
  segmentName: (id: number) => string | undefined,
): string {
  if (!enabled) return 'off';
  return offBecauseOf ? `off because of ${offBecauseOf}` : describeAudience(audience, segmentName);
}
