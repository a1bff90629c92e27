import type { ConstraintOperator } from './operators.js';

/**
 * A flag in one environment, as evaluation reads it. Snapshots keep the definition: do not change it afterwards, but
 * pass a new one to `Snapshot.with`.
 */
export interface FlagDefinition {
  readonly name: string;
  readonly project?: string;
  readonly type?: string;
  /** Whether the flag is enabled in the snapshot's environment. */
  readonly enabled: boolean;
  /** The first strategy that holds switches the flag on. An enabled flag without strategies is on. */
  readonly strategies: readonly StrategyDefinition[];
  readonly variants?: readonly VariantDefinition[] | null;
  /** All dependencies must hold. */
  readonly dependencies?: readonly DependencyDefinition[] | null;
  /** Whether evaluations call `onImpression`. */
  readonly impressionData?: boolean;
}

/** A strategy, as evaluation reads it. */
export interface StrategyDefinition {
  /** A built-in strategy, or a custom one of the host. An unknown strategy never holds. */
  readonly name: string;
  readonly parameters?: StrategyParameters | null;
  readonly constraints?: readonly ConstraintDefinition[] | null;
  /** Segment ids. All segments must exist and hold. */
  readonly segments?: readonly number[] | null;
  /** Replace the flag's variants if this strategy switches the flag on. */
  readonly variants?: readonly VariantDefinition[] | null;
  /** A disabled strategy never holds. If all strategies are disabled, the flag is off. */
  readonly disabled?: boolean;
}

/** A constraint, as evaluation reads it. */
export interface ConstraintDefinition extends Omit<Constraint, 'operator'> {
  /** One of `CONSTRAINT_OPERATORS`. A constraint with another operator never holds, inverted or not. */
  readonly operator: string;
}

/** A variant, as evaluation reads it. */
export interface VariantDefinition {
  readonly name: string;
  /** The variant's share of the sum of all weights. Weight 0 is never drawn, but an override can select it. */
  readonly weight: number;
  /** The stickiness of the first variant counts. Default: `default`. */
  readonly stickiness?: string;
  readonly payload?: Payload | null;
  readonly overrides?: readonly VariantOverride[] | null;
}

/** A condition on a parent flag. A parent that is missing, or has parents itself, keeps the flag off. */
export interface DependencyDefinition {
  readonly flag: string;
  /** `false` requires the parent to be off. Default: true. */
  readonly enabled?: boolean;
  /** If not empty, the parent's variant must be one of these. */
  readonly variants?: readonly string[] | null;
}

/** Constraints that strategies share by id. All constraints must hold. */
export interface SegmentDefinition {
  readonly id: number;
  readonly constraints?: readonly ConstraintDefinition[] | null;
}

/** A value of a strategy's parameters. Stored and returned unchanged. */
export type ParameterValue = string | number | boolean | null;

/** A strategy's parameters by name. */
export type StrategyParameters = Readonly<Record<string, ParameterValue>>;

/** A condition on one context field. All constraints of a strategy must hold. */
export interface Constraint {
  readonly contextName: string;
  readonly operator: ConstraintOperator;
  /**
   * The operand of `IN`, `NOT_IN`, `STR_*` (at least one value, none empty) and `IN_CIDR` (addresses, or networks such
   * as 10.0.0.0/8).
   */
  readonly values?: readonly string[];
  /**
   * The operand of `NUM_*` (a finite number), `DATE_*` (ISO 8601; without an offset evaluated as local time, like SDKs
   * do), `SEMVER_*` (semver 2.0) and `REGEX` (RE2 syntax; texts of more than 500 characters match nothing).
   */
  readonly value?: string;
  readonly inverted?: boolean;
  readonly caseInsensitive?: boolean;
}

/** The types of payloads. */
export const PAYLOAD_TYPES = ['string', 'json', 'csv', 'number'] as const;

/** One of `string`, `json`, `csv` and `number`. */
export type PayloadType = (typeof PAYLOAD_TYPES)[number];

/** The value that a variant delivers. A `json` value is a JSON text; a `number` value is a number as text. */
export interface Payload {
  readonly type: PayloadType;
  readonly value: string;
}

/** Assigns the variant to contexts whose field has one of these values, regardless of weights. */
export interface VariantOverride {
  readonly contextName: string;
  readonly values: readonly string[];
}
