import type { Token } from '../features/tokens/token.types.js';
import type { Flags } from '../flags.js';
import type { ActorOptions } from '../kernel/changes/change-set.types.js';
import type { FlagsOptions } from '../options.js';
import type { FlagName, FlagPayload, FlagsSchema, VariantName } from '../typed-flags/schema.types.js';
import type { TypedFlags } from '../typed-flags.types.js';

/** A flag that is on for everybody, with this variant. */
export interface TestVariant<Name extends string = string, PayloadValue = unknown> {
  readonly variant: Name;
  /** Text, a number, or any JSON value. Default: the variant's payload. */
  readonly payload?: PayloadValue;
}

/** `true`: on for everybody. `false`: off. A text or an object: on for everybody, with this variant. */
export type TestValue = boolean | string | TestVariant;
/** The values of flags in a test, by name. */
export type TestValues = Readonly<Record<string, TestValue>>;

/** The values that the flags of a schema may have. */
export type TypedTestValues<Schema extends FlagsSchema> = {
  readonly [Name in FlagName<Schema>]?:
    | boolean
    | VariantName<Schema, Name>
    | TestVariant<VariantName<Schema, Name>, FlagPayload<Schema, Name>>;
};

/** The options of `openFlags` that tests may set. */
export type TestFlagsOptions<Own extends string = string> = Pick<
  FlagsOptions<Own>,
  | 'environments'
  | 'environment'
  | 'strategies'
  | 'idEncoding'
  | 'roles'
  | 'flagTypes'
  | 'isUser'
  | 'actor'
  | 'now'
  | 'newId'
  | 'schema'
  | 'onProblem'
  | 'onError'
>;

/** The methods that test flags have beside those of `Flags`. */
export interface TestControls<Values, Name extends string, Self> {
  /**
   * Runs a function with other values of some flags, and returns its result. The values apply to everything that the
   * function calls and awaits. Parallel tests do not see them. Nested calls add to the outer ones.
   * Nothing is stored.
   *
   * @throws FlagsError `flag_not_found` (naming the closest flags)
   * @example
   * await flags.override({ checkout: false }, () => request(app).get('/cart').expect(200));
   */
  override<Result>(values: Values, run: () => Result): Result;

  /**
   * Runs a function with every combination of values of some flags: off and on, or off and each variant. Runs all of
   * them, one after another, and then throws an `AggregateError` that names the failed ones. Returns a promise if the
   * function does.
   *
   * @throws RangeError for more than 1,000 combinations
   * @example
   * await flags.vary(['checkout', 'banner'], async () => assert.equal((await get('/cart')).status, 200));
   */
  vary(
    names: readonly Name[],
    run: (values: Readonly<Record<Name, boolean | string>>) => Promise<unknown>,
  ): Promise<void>;
  vary(names: readonly Name[], run: (values: Readonly<Record<Name, boolean | string>>) => unknown): void;

  /**
   * Returns independent flags with the same state, event log included, without overrides and metrics. Takes
   * microseconds: the copy is made at the first change, or at the first read that is not an evaluation.
   *
   * @example
   * beforeEach(() => {
   *   flags = base.fork();
   * });
   */
  fork(): Self;
}

/** Flags for tests, in memory. Evaluating an unknown flag throws. */
export interface TestFlags<Own extends string = never>
  extends Omit<Flags<Own>, 'as'>,
    TestControls<TestValues, string, TestFlags<Own>> {
  /** Like `as`. */
  as(actor: string | Pick<Token, 'id' | 'name' | 'kind'>, options?: ActorOptions): TestFlags<Own>;
}

/** Flags for tests, typed by a schema. */
export interface TypedTestFlags<Schema extends FlagsSchema, Own extends string = never>
  extends Omit<TypedFlags<Schema, Own>, 'as'>,
    TestControls<TypedTestValues<Schema>, FlagName<Schema>, TypedTestFlags<Schema, Own>> {
  /** Like `as`. */
  as(actor: string | Pick<Token, 'id' | 'name' | 'kind'>, options?: ActorOptions): TypedTestFlags<Schema, Own>;
}
