import type { ChangeContext, EnvironmentRef, JsonPatch, StrategyRef } from '../common.types.js';
import type { Payload, WeightType } from './variant.types.js';

/** Values of a strategy's parameters; they come back as they were given. */
export type ParameterValue = string | number | boolean | null;
export type Parameters = Readonly<Record<string, ParameterValue>>;

/** How a constraint compares a field of the context. */
export const CONSTRAINT_OPERATORS = [
  'IN',
  'NOT_IN',
  'STR_CONTAINS',
  'STR_STARTS_WITH',
  'STR_ENDS_WITH',
  'NUM_EQ',
  'NUM_GT',
  'NUM_GTE',
  'NUM_LT',
  'NUM_LTE',
  'DATE_AFTER',
  'DATE_BEFORE',
  'SEMVER_EQ',
  'SEMVER_GT',
  'SEMVER_GTE',
  'SEMVER_LT',
  'SEMVER_LTE',
  'REGEX',
  'IN_CIDR',
] as const;

export type ConstraintOperator = (typeof CONSTRAINT_OPERATORS)[number];

/** A condition on one field of the evaluation context; all constraints of a strategy must hold. */
export interface Constraint {
  readonly contextName: string;
  readonly operator: ConstraintOperator;
  /**
   * The operand of `IN`, `NOT_IN`, `STR_*` (at least one value, and none of them empty) and `IN_CIDR` (addresses, or networks
   * such as 10.0.0.0/8).
   */
  readonly values?: readonly string[];
  /**
   * The operand of `NUM_*` (a finite number), `DATE_*` (ISO 8601; without an offset it is evaluated as local time, as SDKs
   * do), `SEMVER_*` (semver 2.0) and `REGEX` (in the syntax of RE2; texts of more than 500 characters match none).
   */
  readonly value?: string;
  readonly inverted?: boolean;
  readonly caseInsensitive?: boolean;
}

/** A variant of one strategy: it replaces the flag's variants where that strategy decides. */
export interface StrategyVariant {
  readonly name: string;
  readonly weightType: WeightType;
  /** 0–1000. */
  readonly weight: number;
  readonly stickiness: string;
  readonly payload?: Payload;
}

/** What a strategy is made of; {@link Strategy} adds the id. */
export interface StrategyInput {
  /** A built-in strategy (`default`, `flexibleRollout`, …) or one that the clients bring. 1–100 characters. */
  readonly name: string;
  /** `{}` when absent. For `flexibleRollout`, `rollout` is 0–100, as a number or a numeric string. */
  readonly parameters?: Parameters | null;
  /** `[]` when absent. */
  readonly constraints?: readonly Constraint[];
  readonly title?: string;
  readonly disabled?: boolean;
  /** Strategies are shown and evaluated in this order, smallest first; 9999 when absent. Of equal ones the older is first. */
  readonly sortOrder?: number;
  /** Ids of segments that exist, each at most once. */
  readonly segments?: readonly number[];
  readonly variants?: readonly StrategyVariant[];
}

/** What replaces a strategy. Without a name, the strategy keeps the one that it has. */
export type StrategyReplacement = Omit<StrategyInput, 'name'> & Partial<Pick<StrategyInput, 'name'>>;

/** An activation strategy. The optional members are there when they were given. */
export interface Strategy extends StrategyInput {
  /** A UUID, made by the service. */
  readonly id: string;
  readonly parameters: Parameters | null;
  readonly constraints: readonly Constraint[];
}

export interface StrategyOperations {
  /**
   * Adds a strategy to a flag in one environment, after those of the same `sortOrder`.
   *
   * Two simultaneous additions both happen.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found`, `environment_not_found`, `flag_archived`,
   * `revision_mismatch`
   * @example
   * const { id } = await flags.addStrategy(
   *   { project: 'default', flag: 'checkout', environment: 'production' },
   *   { name: 'flexibleRollout', parameters: { rollout: 25, groupId: 'checkout', stickiness: 'default' } },
   * );
   */
  addStrategy(ref: EnvironmentRef, input: StrategyInput, context?: ChangeContext): Promise<Strategy>;

  /**
   * Replaces a strategy; its id and place stay, and its name when the input has none. What else the input leaves out is gone:
   * parameters become `{}`, constraints `[]`.
   *
   * @throws FlagsError as {@link addStrategy}, and `strategy_not_found`
   * @example
   * await flags.updateStrategy({ ...environment, strategy: id }, { name: 'default' });
   */
  updateStrategy(ref: StrategyRef, input: StrategyReplacement, context?: ChangeContext): Promise<Strategy>;

  /**
   * Changes a strategy by a JSON Patch (RFC 6902), all operations or none. The patch is applied to the state at the
   * moment of the change, so that two simultaneous patches of different members both take effect. `/id` is kept. Members that
   * the patch leaves as they are are not validated again.
   *
   * @throws FlagsError as {@link updateStrategy}, and `invalid_patch`, `patch_test_failed`
   * @example
   * await flags.patchStrategy(ref, [{ op: 'replace', path: '/parameters/rollout', value: 50 }]);
   */
  patchStrategy(ref: StrategyRef, patch: JsonPatch, context?: ChangeContext): Promise<Strategy>;

  /**
   * Removes a strategy. With the last one an enabled environment is switched off as well: an enabled environment always
   * has a strategy.
   *
   * @throws FlagsError as {@link addStrategy}, and `strategy_not_found`, also for the second of two removals
   * @example
   * await flags.removeStrategy({ project: 'default', flag: 'checkout', environment: 'production', strategy: id });
   */
  removeStrategy(ref: StrategyRef, context?: ChangeContext): Promise<void>;

  /**
   * Switches a flag on in one environment. Already on: nothing happens, no event.
   *
   * Crossing with the removal of the last strategy, either this fails or the removal switches it off again.
   *
   * @throws FlagsError `environment_has_no_strategies`, `project_not_found`, `flag_not_found`, `environment_not_found`,
   * `flag_archived`, `revision_mismatch`
   * @example
   * await flags.enable({ project: 'default', flag: 'checkout', environment: 'production' });
   */
  enable(ref: EnvironmentRef, context?: ChangeContext): Promise<void>;

  /**
   * Switches a flag off in one environment. Already off: nothing happens, no event.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`, `environment_not_found`, `flag_archived`,
   * `revision_mismatch`
   * @example
   * await flags.disable({ project: 'default', flag: 'checkout', environment: 'production' });
   */
  disable(ref: EnvironmentRef, context?: ChangeContext): Promise<void>;
}
