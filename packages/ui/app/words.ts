import { describeCondition, describeReason, EVENT_WORDS, strategyName, strategyTitle } from '@flags/core/admin';
import type { Answer, Bucket, EvaluatedVariant, ExplainedFlag, Plan, Strategy, WireEvent } from './api/types.js';
import { findSegmentName, segmentName } from './model/describe.js';

/** Dates, numbers and plurals in the locale of the browser. */
const numbers = new Intl.NumberFormat();
const compactNumbers = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });

export const number = (value: number) => numbers.format(value);
export const compact = (value: number) => compactNumbers.format(value);
export const time = (iso: string) => times.format(new Date(iso));

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** Says who must approve a change: "production needs approval: 2 other people must approve it." */
export function approvalText({ environments, required }: NonNullable<Plan['approval']>): string {
  const where = environments.length === 0 ? 'This' : environments.join(' and ');
  const verb = environments.length > 1 ? 'need' : 'needs';
  return `${where} ${verb} approval: ${plural(required, 'other person', 'other people')} must approve the change before it is applied.`;
}

/** Counts the shown items of a list: "3 of 8 flags". */
export function shownOf(shown: number, total: number, noun: string): string {
  return shown === total ? plural(total, noun) : `${number(shown)} of ${plural(total, noun)}`;
}

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** Formats the time since a date: "2 min. ago". */
export function timeAgo(iso: string, now = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1_000;
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  return unit === undefined ? 'just now' : relative.format(Math.round(seconds / unit[1]), unit[0]);
}

/** Formats the time until a date: "in 2 hr."; undefined for the past. */
export function until(iso: string, now = Date.now()): string | undefined {
  const left = new Date(iso).getTime() - now;
  if (left < 0) return undefined;
  return left < 60_000 ? 'in less than a minute' : timeAgo(iso, now);
}

const TYPES: Readonly<Record<string, string>> = {
  release: 'Release',
  experiment: 'Experiment',
  operational: 'Operational',
  'kill-switch': 'Kill switch',
  permission: 'Permission',
};

export function flagType(type: string): string {
  return TYPES[type] ?? type;
}

const TOKEN_KINDS: Readonly<Record<string, string>> = { admin: 'Admin', client: 'Client', frontend: 'Frontend' };

export function tokenKind(kind: string): string {
  return TOKEN_KINDS[kind] ?? kind;
}

/** A later release of the server may send other types. */
export function eventType(type: string): string {
  return EVENT_WORDS[type as WireEvent['type']] ?? type;
}

/** Explains why a flag is on or off: "rollout, bucket 12 ≤ 25". */
export function why(explained: ExplainedFlag): string {
  const parent = explained.dependencies.find(({ holds }) => !holds);
  if (explained.reason === 'dependency' && parent) return `depends on ${parent.dependency.feature}`;
  const last = explained.strategies.at(-1);
  if (last === undefined || (explained.reason !== 'strategy' && explained.reason !== 'no_strategy_holds')) {
    return describeReason(explained.reason);
  }
  return explained.reason === 'strategy' ? whyHolds(last) : whyNot(explained);
}

type ExplainedStrategy = ExplainedFlag['strategies'][number];

/**
 * Titles an explained strategy as the flag does.
 *
 * @param stored the strategy at this place of the flag; absent where it is unknown, and another one if the flag has
 *   changed since. Then the title names the conditions up to the one that fails: explanations list no others.
 */
export function explainedTitle({ name, constraints, segments }: ExplainedStrategy, stored?: Strategy): string {
  if (stored?.name === name) return stored.title || strategyTitle(stored, findSegmentName);
  const shown = {
    name,
    constraints: constraints.map(({ constraint }) => constraint),
    segments: segments.map(({ id }) => id),
  };
  return strategyTitle(shown, findSegmentName);
}

function whyHolds(strategy: ExplainedStrategy): string {
  const { rollout } = strategy;
  if (rollout?.bucket !== undefined) return `rollout, bucket ${rollout.bucket} ≤ ${rollout.rollout}`;
  return rollout === undefined ? explainedTitle(strategy) : `rollout ${rollout.rollout} %`;
}

function whyNot({ strategies }: ExplainedFlag): string {
  const reasons = strategies.map((strategy) => {
    const failed = strategy.constraints.find(({ holds }) => !holds);
    const segment = strategy.segments.find(({ holds }) => !holds);
    if (strategy.disabled) return 'strategy disabled';
    if (strategy.unknown) return `${strategyName(strategy.name)} ${strategy.unknown.join(', ')}`;
    if (segment) return `not in ${segmentName(segment.id)}`;
    if (failed) {
      const { contextName } = failed.constraint;
      if (failed.value === undefined) return `no ${contextName}`;
      return `${contextName} ${failed.value}: not ${describeCondition(failed.constraint)}`;
    }
    const { rollout } = strategy;
    if (rollout && !rollout.holds) {
      return rollout.bucket === undefined ? 'not in the rollout' : `bucket ${rollout.bucket} > ${rollout.rollout}`;
    }
    return `${strategyName(strategy.name)}: no match`;
  });
  return [...new Set(reasons)].join('; ');
}

export function bucketText({ bucket, rollout }: Bucket): string {
  if (bucket === null) return 'no id to hash';
  return `bucket ${bucket} ${bucket <= rollout ? '≤' : '>'} ${rollout}`;
}

/** Returns the name of a variant; undefined if there is none. */
export function variantName(variant: EvaluatedVariant | null): string | undefined {
  return variant?.enabled ? variant.name : undefined;
}

export function answer({ enabled, variant }: Pick<Answer, 'enabled' | 'variant'>): string {
  const name = variantName(variant);
  return `${enabled ? 'on' : 'off'}${enabled && name !== undefined ? `: ${name}` : ''}`;
}
