import { type FlagsStorage, isFlagsError } from '@flags/core';
import { isStorage } from '@flags/core/integration/opentelemetry';
import type { Attributes, Histogram, MeterProvider } from '@opentelemetry/api';
import { attempt, describeWrongOptions, meterOf } from './meter.js';

/** Options of `instrumentStorage`. All have defaults. */
export interface InstrumentStorageOptions {
  /** Creates the meter. Default: the registered provider. */
  readonly meterProvider?: MeterProvider;
}

/** The record type requires an entry for every option. */
const OPTIONS: Readonly<Record<keyof InstrumentStorageOptions, true>> = { meterProvider: true };

/** Whether a method is measured. The others use no connection, or run for as long as they are asked to. */
const IS_MEASURED: Readonly<Record<keyof FlagsStorage, boolean>> = {
  get: true,
  list: true,
  commit: true,
  events: true,
  dataVersion: true,
  driver: false,
  usage: false,
  walBytes: false,
  watch: false,
  close: false,
};

/** Seconds: from a read of SQLite to a database that hardly answers. */
const BUCKETS = [0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/** A commit that was refused because another one came first. The engine reads again, and decides again. */
const CONFLICT = 'conflict';
/** An error without a code of its own. The conventions of OpenTelemetry define the name. */
const OTHER_ERROR = '_OTHER';

type Method = (...input: readonly unknown[]) => unknown;

/**
 * Measures how long the calls of a storage take, as a histogram of OpenTelemetry, with the code of the error if they
 * fail. Returns a storage to use in the place of the given one: it has all its members, and behaves like it. Call it
 * after the SDK of OpenTelemetry has started. Errors of the metrics library go to its own logger.
 *
 * @throws TypeError if `storage` is not a storage, for example a promise, and for an unknown or invalid option @example
 * const storage = instrumentStorage(await sqliteStorage('./flags.db')); const flags = await openFlags({ storage });
 */
export function instrumentStorage<Storage extends FlagsStorage>(
  storage: Storage,
  options: InstrumentStorageOptions = {},
): Storage {
  const fault = describeNonStorage(storage) ?? describeWrongOptions(options, Object.keys(OPTIONS));
  if (fault) throw new TypeError(`instrumentStorage ${fault}`);
  /**
   * `flags.storage.operation`: `get`, `list`, `commit`, `events` or `dataVersion`; and `error.type`: the code of the
   * error, or `conflict` for a commit that came second.
   */
  const durations = meterOf(options.meterProvider).createHistogram('flags.storage.operation.duration', {
    description: 'Duration of the calls of the storage.',
    unit: 's',
    advice: { explicitBucketBoundaries: BUCKETS },
  });
  const instrumented = {};
  for (const name of membersOf(storage)) {
    const get = readerOf(storage, name, durations);
    Object.defineProperty(instrumented, name, { get, enumerable: true, configurable: true });
  }
  return instrumented as Storage;
}

function describeNonStorage(value: unknown): string | undefined {
  if (isStorage(value)) return undefined;
  const { then } = Object(value) as Record<string, unknown>;
  if (typeof then === 'function') return 'needs a storage, but got a promise: await sqliteStorage(…) first.';
  if (typeof value === 'function') return 'needs a storage, but got a function: call it, as in memoryStorage().';
  return 'needs a storage as its first argument, such as memoryStorage() or await sqliteStorage(…).';
}

/** The names of all members of a storage, which may be an instance of a class. */
function membersOf(storage: object): ReadonlySet<PropertyKey> {
  const names = new Set<PropertyKey>();
  for (let level = storage; level !== null && level !== Object.prototype; level = Object.getPrototypeOf(level)) {
    for (const name of Reflect.ownKeys(level)) if (name !== 'constructor') names.add(name);
  }
  return names;
}

/** Returns the getter of a member. Methods are called on the storage itself, which may have private members. */
function readerOf(storage: object, name: PropertyKey, durations: Histogram): () => unknown {
  const member: unknown = Reflect.get(storage, name);
  if (typeof member !== 'function') return () => Reflect.get(storage, name);
  const method: Method = member.bind(storage);
  const measured =
    Object.hasOwn(IS_MEASURED, name) && IS_MEASURED[name as keyof FlagsStorage]
      ? measure(method, `${String(name)}`, durations)
      : method;
  return () => measured;
}

/** Measures a method, and returns its own result, also a promise: the caller waits no longer than without metrics. */
function measure(method: Method, operation: string, durations: Histogram): Method {
  const succeeded: Attributes = Object.freeze({ 'flags.storage.operation': operation });

  function record(start: number, failure: string | undefined): void {
    const attributes = failure === undefined ? succeeded : { ...succeeded, 'error.type': failure };
    attempt(() => durations.record((performance.now() - start) / 1000, attributes));
  }

  return (...input) => {
    const start = performance.now();
    const end = (result: unknown) => record(start, conflictIn(result));
    const fail = (error: unknown) => record(start, codeOf(error));
    let result: unknown;
    try {
      result = method(...input);
    } catch (error) {
      fail(error);
      throw error;
    }
    if (isPromise(result)) void result.then(end, fail);
    else end(result);
    return result;
  };
}

/** A commit returns a conflict as a value. Nothing else that a storage returns has `ok`. */
function conflictIn(result: unknown): string | undefined {
  const { ok } = Object(result) as { readonly ok?: unknown };
  return ok === false ? CONFLICT : undefined;
}

function codeOf(error: unknown): string {
  return isFlagsError(error) ? error.code : OTHER_ERROR;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  const { then } = Object(value) as { readonly then?: unknown };
  return typeof then === 'function';
}
