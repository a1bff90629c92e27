import type {
  ConstraintDefinition,
  FlagDefinition,
  StrategyDefinition,
  VariantDefinition,
} from '../../src/evaluation/definitions.types.js';
import { patterns } from '../../src/evaluation/re2.js';
import { compileSnapshot, type Snapshot, type SnapshotOptions } from '../../src/evaluation/snapshot.js';

/** Noon of the day that all tests use. */
export const NOON = Date.parse('2024-05-06T12:00:00Z');

export function flag(changes: Partial<FlagDefinition> = {}): FlagDefinition {
  return { name: 'checkout', enabled: true, strategies: [{ name: 'default' }], ...changes };
}

/** Compiles the flags at once. */
export function snapshotOf(flags: readonly FlagDefinition[], options: Partial<SnapshotOptions> = {}): Snapshot {
  return lazySnapshotOf([], options).with({ flags });
}

/** Compiles each flag when it is first evaluated. */
export function lazySnapshotOf(flags: readonly FlagDefinition[], options: Partial<SnapshotOptions> = {}): Snapshot {
  return compileSnapshot({ flags, now: () => NOON, patterns: () => patterns, ...options });
}

/** A snapshot of the flag `checkout` with one strategy. */
export function withStrategy(strategy: StrategyDefinition, options: Partial<SnapshotOptions> = {}): Snapshot {
  return snapshotOf([flag({ strategies: [strategy] })], options);
}

export function withConstraint(constraint: ConstraintDefinition, options: Partial<SnapshotOptions> = {}): Snapshot {
  return withStrategy({ name: 'default', constraints: [constraint] }, options);
}

export function rollout(percentage: number, parameters: Record<string, string> = {}): StrategyDefinition {
  return { name: 'flexibleRollout', parameters: { rollout: percentage, groupId: 'checkout', ...parameters } };
}

export function weighted(...weights: readonly number[]): VariantDefinition[] {
  return weights.map((weight, at) => ({ name: `variant-${at}`, weight, stickiness: 'default' }));
}
