export interface Settings {
  readonly environments: readonly Environment[];
  readonly roles: readonly Role[];
  readonly flagTypes: readonly FlagType[];
  /** The default environment of evaluations. */
  readonly environment: string;
}

export interface Environment {
  /** The same characters as in flag names. */
  readonly name: string;
  readonly displayName: string;
}

export interface FlagType {
  readonly name: string;
  /** The age in days at which a flag becomes potentially stale; null: never. */
  readonly lifetimeDays: number | null;
}

export interface Role {
  readonly id: number;
  /** One role is named `owner`. */
  readonly name: string;
}
