/** A parent flag and the state it must have for the child to be on. */
export interface Dependency {
  /** The parent's name. */
  readonly flag: string;
  /** Whether the parent must be on or off. */
  readonly enabled: boolean;
  /** Names of variants, one of which the parent must have; empty for any. Only with `enabled: true`. */
  readonly variants: readonly string[];
}

/** A dependency on a parent flag, to add or to replace. */
export interface DependencyInput {
  readonly flag: string;
  /** Default: true. */
  readonly enabled?: boolean;
  /** Default: `[]`. */
  readonly variants?: readonly string[];
}
