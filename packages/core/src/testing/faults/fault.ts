/**
 * The names of the methods of a port that may fail. What only subscribes, or tells a number at once, does not: it is not asked of
 * the storage's connection.
 */
export type MethodOf<Port> = {
  [Name in keyof Port]-?: NonNullable<Port[Name]> extends (...input: never[]) => infer Answer
    ? Answer extends (() => void) | number | undefined
      ? never
      : Name
    : never;
}[keyof Port];

/** One call of a port, as the engine made it. */
export type PortCall<Port> = {
  [Name in MethodOf<Port>]: {
    readonly method: Name;
    readonly input: NonNullable<Port[Name]> extends (...input: infer Input) => unknown ? Input : never;
  };
}[MethodOf<Port>];

/**
 * Something that goes wrong with calls of a port. With neither `error`, `delay` nor `hang` the calls fail: with
 * `storage_unavailable` before the storage has heard of them, with `outcome_unknown` after it has carried them out. With
 * `delay` or `hang` they go on late; with `error` as well they fail late.
 */
export interface Fault<Port> {
  /** The method, or several, whose calls are meant; every method but `close` when absent. */
  readonly method?: MethodOf<Port> | readonly MethodOf<Port>[];
  /** Narrows the calls that are meant. */
  readonly when?: (call: PortCall<Port>) => boolean;
  /** Strikes with this one of the calls that are meant, from 1; with the first when absent. */
  readonly nth?: number;
  /** Strikes so many of them in a row; one where `nth` is given, else all, when absent. */
  readonly times?: number;
  /**
   * `before`: the storage does not hear of the call (until a delay is over). `after`: the storage has carried the call
   * out, and its answer is lost or late; what the storage itself refuses keeps its own error. `before` when absent.
   */
  readonly point?: 'before' | 'after';
  /** What the calls fail with. */
  readonly error?: unknown;
  /** Milliseconds that the calls wait. */
  readonly delay?: number;
  /** The calls wait until they are released. */
  readonly hang?: true;
}

/** A fault in place. */
export interface InjectedFault {
  /** How many calls it has struck. */
  strikes(): number;
  /** Lets go of the calls that hang, and has later ones hang no more. */
  release(): void;
  /** Takes it away, and lets go of the calls that hang. Doing so again does nothing. */
  remove(): void;
}

/** What can be done to a port that is made to fail. */
export interface FaultInjector<Port> {
  /** Has calls go wrong from now on. Of several faults that strike one call at one point the earliest comes first. */
  inject(fault: Fault<Port>): InjectedFault;
  /** Takes all faults away, and lets go of the calls that hang. */
  heal(): void;
  /** Every call so far, those that failed among them. */
  readonly calls: readonly PortCall<Port>[];
}
