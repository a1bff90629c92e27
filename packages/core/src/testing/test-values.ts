import { AsyncLocalStorage } from 'node:async_hooks';
import type { DomainEvent } from '../base/domain-event.js';
import { FlagsError } from '../base/errors.js';
import { closestNames } from '../base/option-names.js';
import type { FlagsSettings } from '../base/settings.types.js';
import { invalidInput } from '../base/validator.js';
import type { FlagDefinition, Payload, VariantDefinition } from '../evaluation/definitions.types.js';
import { reasonOf } from '../evaluation/problem.js';
import type { Snapshot } from '../evaluation/snapshot.js';
import type { Replica } from '../features/environments/environments.js';
import { createFlag } from '../features/flags/flag.decide.js';
import type { FlagState } from '../features/flags/flag.js';
import { evolveFlag, type FlagEvent, flagDocuments } from '../features/flags/flag.kind.js';
import { addStrategy, enable, toStrategy } from '../features/flags/strategies.decide.js';
import type { VariantInput } from '../features/flags/variant.types.js';
import { setVariants } from '../features/flags/variants.decide.js';
import { DEFAULT_PROJECT } from '../features/projects/project.js';
import type { Aggregate } from '../storage/document-reader.js';
import type { DocumentPut } from '../storage/port.js';
import { describedVariants } from '../typed-flags/payload.js';
import type { FlagDeclaration, FlagsSchema } from '../typed-flags/schema.types.js';
import type { TestValue, TestValues, TestVariant } from './test-flags.types.js';

/** Throws `flag_not_found` for an unknown flag, and names the closest ones. */
export function throwUnknownFlag(flag: unknown, known: Iterable<string>): never {
  const names = [...known];
  const closest = closestNames(String(flag), names).slice(0, 3);
  const hint =
    closest.length > 0 ? `did you mean ${closest.join(' or ')}?` : `the flags are ${names.sort().join(', ')}.`;
  throw new FlagsError('flag_not_found', `There is no flag ${String(flag)}; ${hint}`);
}

/** Throws `invalid_input` unless each value is valid for its flag, and its variant is declared. */
export function assertTestValues(values: TestValues, schema: FlagsSchema | undefined): void {
  for (const [flag, value] of Object.entries(values)) {
    const variant = variantOf(value);
    if (typeof value !== 'boolean' && typeof variant?.variant !== 'string') {
      throw invalidInput([
        { message: "must be true, false, the name of a variant, or { variant: 'red' }", path: `/${flag}` },
      ]);
    }
    const declaration = schema && Object.hasOwn(schema.flags, flag) ? schema.flags[flag] : undefined;
    if (!declaration || !variant) continue;
    const names = [...describedVariants(declaration).keys()];
    if (names.includes(variant.variant)) continue;
    const message = `names the variant ${variant.variant}; the variants are ${names.join(', ') || 'none'}`;
    throw invalidInput([{ message, path: `/${flag}` }]);
  }
}

function variantOf(value: TestValue): TestVariant | undefined {
  if (typeof value === 'string') return { variant: value };
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** The inputs of stored test flags. */
interface SeedContext {
  readonly settings: FlagsSettings;
  readonly createdAt: string;
  readonly newId: () => string;
}

/** A new document, and the events that create it. */
export interface SeedDocument {
  readonly write: DocumentPut;
  readonly events: readonly DomainEvent[];
  readonly project: string | null;
}

/** Creates a document from its events. */
export function seedDocument<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  id: string,
  events: readonly Event[],
): SeedDocument {
  const state = events.reduce(aggregate.evolve, undefined);
  if (state === undefined) throw new Error(`The ${aggregate.kind} ${id} has no events.`);
  const { kind, parentOf, summarize, projectOf } = aggregate;
  const write = { key: { kind, id }, expected: 0, parent: parentOf(state), body: state, summary: summarize(state) };
  return { write, events, project: projectOf(state) };
}

/** Creates the document of a flag with a value: on in every environment, or off. */
export function seedFlag(
  name: string,
  seed: { readonly value: TestValue; readonly declaration: FlagDeclaration },
  { settings, createdAt, newId }: SeedContext,
): SeedDocument {
  const { project = DEFAULT_PROJECT, description = '', type = settings.flagTypes[0]?.name ?? '' } = seed.declaration;
  const events: FlagEvent[] = [];
  let state: FlagState | undefined;
  const decide = (decision: (flag: FlagState) => readonly FlagEvent[]) => {
    if (!state) return;
    for (const event of decision(state)) {
      events.push(event);
      state = evolveFlag(state, event) ?? state;
    }
  };
  const [created] = createFlag(undefined, { name, description, type }, { project, createdAt });
  if (created) events.push(created);
  state = created && evolveFlag(undefined, created);
  const variants = variantsOf(seed);
  if (variants.length > 0) decide((flag) => setVariants(flag, variants));
  for (const environment of seed.value === false ? [] : settings.environments) {
    decide((flag) => addStrategy(flag, environment.name, toStrategy(newId(), { name: 'default' })));
    decide((flag) => enable(flag, environment.name));
  }
  return seedDocument(flagDocuments, name, events);
}

/** Gives the value's variant the whole weight, and the other declared variants none. */
function variantsOf({ value, declaration }: { readonly value: TestValue; readonly declaration: FlagDeclaration }) {
  const chosen = variantOf(value);
  const declared = [...describedVariants(declaration).keys()];
  if (!chosen) return declared.map((name): VariantInput => ({ name }));
  const others = declared.filter((name) => name !== chosen.variant);
  const payload = chosen.payload === undefined ? {} : { payload: toPayload(chosen.payload) };
  const variant: VariantInput = { name: chosen.variant, ...payload };
  return [variant, ...others.map((name): VariantInput => ({ name, weightType: 'fix', weight: 0 }))];
}

function toPayload(value: unknown): Payload {
  if (typeof value === 'string') return { type: 'string', value };
  if (typeof value === 'number') return { type: 'number', value: String(value) };
  return { type: 'json', value: JSON.stringify(value) };
}

/** Returns the definition of a flag that has a value for everybody. */
function forceValue(definition: FlagDefinition, value: TestValue): FlagDefinition {
  if (value === false) return { ...definition, enabled: false };
  const on = { ...definition, enabled: true, strategies: [], dependencies: [] };
  const chosen = variantOf(value);
  if (!chosen) return on;
  const known = definition.variants?.find(({ name }) => name === chosen.variant);
  const payload = chosen.payload === undefined ? known?.payload : toPayload(chosen.payload);
  const variant: VariantDefinition = { name: chosen.variant, weight: 1000, ...(payload && { payload }) };
  return { ...on, variants: [variant] };
}

/** The values that a flag can have: off and on, or off and each variant. */
export function possibleValues({ variants }: FlagDefinition): readonly (boolean | string)[] {
  const names = variants?.map(({ name }) => name) ?? [];
  return names.length > 0 ? [false, ...names] : [false, true];
}

/** More combinations would run for minutes, and are probably a mistake. */
const MAX_COMBINATIONS = 1000;

type Combination = Readonly<Record<string, boolean | string>>;

/** Returns all combinations of the values of each name. The last name varies fastest. */
export function combine(names: readonly string[], valuesOf: (name: string) => readonly (boolean | string)[]) {
  let combinations: readonly Combination[] = [{}];
  for (const name of new Set(names)) {
    const values = valuesOf(name);
    if (combinations.length * values.length > MAX_COMBINATIONS) {
      throw new RangeError(`vary: these flags have more than ${MAX_COMBINATIONS} combinations; vary fewer flags.`);
    }
    combinations = combinations.flatMap((one) => values.map((value) => ({ ...one, [name]: value })));
  }
  return combinations;
}

interface Failure {
  readonly combination: Combination;
  readonly error: unknown;
}

/** Runs all combinations one after another, synchronously until one returns a promise. Then throws if any failed. */
export function runAll(
  combinations: readonly Combination[],
  run: (combination: Combination) => unknown,
): Promise<void> | undefined {
  const failures: Failure[] = [];

  function runFrom(start: number): Promise<void> | undefined {
    for (const [index, combination] of [...combinations.entries()].slice(start)) {
      const fail = (error: unknown) => void failures.push({ combination, error });
      try {
        const result = run(combination);
        if (isPromise(result))
          return Promise.resolve(result)
            .catch(fail)
            .then(() => runFrom(index + 1));
      } catch (error) {
        fail(error);
      }
    }
    throwIfFailed(failures, combinations.length);
    return undefined;
  }

  return runFrom(0);
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}

function throwIfFailed(failures: readonly Failure[], total: number): void {
  if (failures.length === 0) return;
  const lines = failures.map(({ combination, error }) => `${JSON.stringify(combination)}: ${reasonOf(error)}`);
  const message = `${failures.length} of ${total} combinations failed.\n${lines.join('\n')}`;
  throw new AggregateError(
    failures.map(({ error }) => error),
    message,
    { cause: failures[0]?.error },
  );
}

/** The overrides of the running asynchronous context. */
export const running = new AsyncLocalStorage<ReadonlyMap<object, TestValues>>();

/** Flag values that apply within functions. */
export interface Overrides {
  readonly run: <Result>(values: TestValues, body: () => Result) => Result;
  /** Returns the snapshot with the overridden flags. */
  readonly apply: (snapshot: Snapshot) => Snapshot;
}

export function createOverrides(): Overrides {
  const key = {};
  const compiled = new WeakMap<Snapshot, WeakMap<TestValues, Snapshot>>();

  function compile(snapshot: Snapshot, values: TestValues): Snapshot {
    const flags = Object.entries(values).flatMap(([name, value]) => {
      const definition = snapshot.definition(name);
      return definition ? [forceValue(definition, value)] : [];
    });
    return snapshot.with({ flags });
  }

  return {
    run(values, body) {
      const outer = running.getStore();
      return running.run(new Map([...(outer ?? []), [key, { ...outer?.get(key), ...values }]]), body);
    },
    apply(snapshot) {
      const values = running.getStore()?.get(key);
      if (values === undefined) return snapshot;
      const known = compiled.get(snapshot) ?? new WeakMap<TestValues, Snapshot>();
      compiled.set(snapshot, known);
      const forced = known.get(values) ?? compile(snapshot, values);
      known.set(values, forced);
      return forced;
    },
  };
}

/** Returns a replica whose snapshots have the overridden flags. */
export function withOverrides(replica: Replica, { apply }: Overrides): Replica {
  const { standard, snapshotOf } = replica.state;
  const state = {
    ...replica.state,
    standard: {
      ...standard,
      get snapshot() {
        return apply(standard.snapshot);
      },
    },
    snapshotOf: (environment: string) => {
      const snapshot = snapshotOf(environment);
      return snapshot && apply(snapshot);
    },
  };
  return { ...replica, state };
}
