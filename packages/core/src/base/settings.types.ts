/** The effective configuration of `openFlags`, with its defaults. */
export interface FlagsSettings {
  readonly environments: readonly Environment[];
  readonly roles: readonly Role[];
  readonly flagTypes: readonly FlagType[];
  /** The default environment of evaluations. */
  readonly environment: string;
  /** The names of the host's own strategies. */
  readonly strategies: readonly string[];
}

/** A configured environment. */
export interface Environment {
  /** The same characters as in flag names. */
  readonly name: string;
  readonly displayName: string;
}

/** A configured flag type. */
export interface FlagType {
  readonly name: string;
  /** The age in days at which a flag becomes potentially stale; null: never. */
  readonly lifetimeDays: number | null;
}

/** A configured role of members. */
export interface Role {
  readonly id: number;
  /** One role is named `owner`. */
  readonly name: string;
}
