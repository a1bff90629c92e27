import type { AudiencePart, EnvironmentOverview } from '../flags/flag-search.types.js';

/** A strategy, stored or as the HTTP API sends it. */
interface Shown {
  readonly name: string;
  readonly disabled?: boolean | undefined;
  readonly parameters?: Readonly<Record<string, unknown>> | null | undefined;
  readonly constraints?: readonly unknown[] | undefined;
  readonly segments?: readonly number[] | undefined;
}

/** The built-in strategies with a percentage: its parameter, and the field without which a context is off. */
const PERCENTAGES: Readonly<Record<string, { readonly parameter: string; readonly field?: string }>> = {
  flexibleRollout: { parameter: 'rollout' },
  gradualRolloutRandom: { parameter: 'percentage' },
  gradualRolloutSessionId: { parameter: 'percentage', field: 'sessionId' },
  gradualRolloutUserId: { parameter: 'percentage', field: 'userId' },
};

/** The built-in strategies with a list of values: its parameter, and the noun for one value. */
const LISTS: Readonly<Record<string, { readonly parameter: string; readonly noun: string }>> = {
  applicationHostname: { parameter: 'hostNames', noun: 'host' },
  remoteAddress: { parameter: 'IPs', noun: 'address' },
  userWithId: { parameter: 'userIds', noun: 'user' },
};

const EVERYBODY: readonly AudiencePart[] = Object.freeze([Object.freeze({ rollout: 100 })]);
const NOBODY: readonly AudiencePart[] = Object.freeze([Object.freeze({ rollout: 0 })]);
const TARGETED: readonly AudiencePart[] = Object.freeze([Object.freeze({ rollout: 100, targeted: true })]);

/** With more parts than these, the audience is just targeted: a cell of a list has no room for them. */
const MOST_PARTS = 2;
/** As `LIMITS.operandText`: no input has a longer percentage. The page does not load all limits for one. */
const LONGEST_PERCENTAGE = 256;

/** Summarizes whom strategies admit: one part for each strategy, or one for all. Empty without strategies. */
export function audienceOf(strategies: readonly Shown[]): readonly AudiencePart[] {
  if (strategies.length === 0) return [];
  const parts = strategies.filter(({ disabled }) => disabled !== true).flatMap((one) => partOf(one) ?? []);
  if (parts.some(isEverybody)) return EVERYBODY;
  if (parts.length === 0) return NOBODY;
  const distinct = [...new Map(parts.map((part) => [JSON.stringify(part), part])).values()];
  return distinct.length <= MOST_PARTS ? distinct : TARGETED;
}

function isEverybody(part: AudiencePart): boolean {
  return part.rollout === 100 && Object.keys(part).length === 1;
}

/** Returns undefined for a strategy that admits nobody. */
function partOf({ name, parameters, constraints = [], segments = [] }: Shown): AudiencePart | undefined {
  const [segment, ...others] = segments;
  const isSegment = segment !== undefined && others.length === 0 && constraints.length === 0;
  const isConditional = segments.length > 0 || constraints.length > 0;
  const condition = isSegment ? { segment } : isConditional ? { targeted: true } : {};
  const list = Object.hasOwn(LISTS, name) ? LISTS[name] : undefined;
  if (list) {
    const count = countOf(parameters?.[list.parameter]);
    if (count === 0) return undefined;
    return isConditional ? { rollout: 100, targeted: true } : { rollout: 100, list: { noun: list.noun, count } };
  }
  const rollout = rolloutOf({ name, parameters });
  if (rollout === 0) return undefined;
  if (rollout === undefined) return { rollout: 100, ...(name === 'default' ? condition : { targeted: true }) };
  const field = isConditional || rollout < 100 ? undefined : requiredField(name, parameters);
  return { rollout, ...condition, ...(field !== undefined && { field }) };
}

/**
 * Returns the percentage of a strategy, 0–100; undefined for strategies that have none. As in evaluation, an unreadable
 * percentage admits nobody.
 */
export function rolloutOf({ name, parameters }: Pick<Shown, 'name' | 'parameters'>): number | undefined {
  const place = Object.hasOwn(PERCENTAGES, name) ? PERCENTAGES[name] : undefined;
  if (!place) return undefined;
  const percentage = toPercentage(parameters?.[place.parameter]);
  return percentage > 0 ? Math.min(Math.floor(percentage), 100) : 0;
}

function toPercentage(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.length <= LONGEST_PERCENTAGE ? Number(value) : Number.NaN;
}

/** Returns the field without which a context is off, also at 100 %. */
function requiredField(name: string, parameters: Shown['parameters']): string | undefined {
  if (name !== 'flexibleRollout') return PERCENTAGES[name]?.field;
  const stickiness = parameters?.stickiness;
  return typeof stickiness !== 'string' || ['', 'default', 'random'].includes(stickiness) ? undefined : stickiness;
}

function countOf(list: unknown): number {
  return typeof list === 'string' ? list.split(',').filter((value) => value.trim() !== '').length : 0;
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
  { rollout, segment, list, field, targeted }: AudiencePart,
  segmentName: (id: number) => string | undefined,
): string {
  if (list) return `${list.count.toLocaleString('en')} ${list.count === 1 ? list.noun : pluralOf(list.noun)}`;
  const share = `${rollout} %`;
  if (segment !== undefined) {
    const name = segmentName(segment) ?? `segment ${segment}`;
    return rollout === 100 ? name : `${share} of ${name}`;
  }
  if (targeted) return rollout === 100 ? 'targeted' : `${share} targeted`;
  return field === undefined ? share : `${share} with ${field}`;
}

function pluralOf(noun: string): string {
  return noun.endsWith('s') ? `${noun}es` : `${noun}s`;
}

/** Says who gets a flag in an environment: the audience, "off", or "off because of PARENT". */
export function describeState(
  {
    enabled,
    offBecauseOf,
    audience,
  }: Pick<EnvironmentOverview, 'enabled' | 'audience'> & { readonly offBecauseOf?: string | null | undefined },
  segmentName: (id: number) => string | undefined,
): string {
  if (!enabled) return 'off';
  return offBecauseOf ? `off because of ${offBecauseOf}` : describeAudience(audience, segmentName);
}
