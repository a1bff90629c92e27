import { describeUnknownOption } from '../base/option-names.js';
import { invalidInput } from '../base/validator.js';
import type { ContextualFlags, EvaluationOperations, Evaluator } from '../evaluation/evaluation.types.js';
import type { Replica } from '../features/environments/environments.js';
import { createProject } from '../features/projects/project.decide.js';
import { DEFAULT_PROJECT } from '../features/projects/project.js';
import { projectDocuments } from '../features/projects/project.kind.js';
import { REGISTRY } from '../features.js';
import type { Flags } from '../flags.js';
import { DocumentCache } from '../kernel/replica/document-cache.js';
import { createFlags, prepareEngine } from '../open-flags.js';
import { memoryStorage } from '../storage/memory/storage.js';
import type { Commit } from '../storage/port.js';
import type { FlagsSchema } from '../typed-flags/schema.types.js';
import { lazyFork, loadCommits, type Origin, recordingStorage } from './fork.js';
import type { TestFlags, TestFlagsOptions, TestValues, TypedTestFlags, TypedTestValues } from './test-flags.types.js';
import {
  assertTestValues,
  combine,
  createOverrides,
  type Overrides,
  possibleValues,
  runAll,
  type SeedDocument,
  seedDocument,
  seedFlag,
  throwUnknownFlag,
  withOverrides,
} from './test-values.js';

/**
 * Creates flags for a test: an engine in memory, which is ready at once. It needs no `close()`. Flags with a value are
 * on or off in every environment. Declared flags of a schema without a value are off. Ids are counted, so that they are
 * the same in every run; override them with `newId` and `now`.
 *
 * Evaluating an unknown flag throws `flag_not_found` and names the closest flags, so that a misspelt name fails the
 * test.
 *
 * @param values by name of the flag
 * @throws FlagsError `invalid_input`, `flag_not_found` (a value of a flag that the schema does not declare)
 * @example
 * const flags = testFlags({ checkout: true, banner: 'red' });
 * const app = createApp(flags);
 */
export function testFlags<Schema extends FlagsSchema, const Own extends string = never>(
  values: TypedTestValues<Schema>,
  options: TestFlagsOptions<Own> & { readonly schema: Schema },
): TypedTestFlags<Schema, Own>;
/** Creates flags for a test, without a schema. */
export function testFlags<const Own extends string = never>(
  values?: TestValues,
  options?: TestFlagsOptions<Own> & { readonly schema?: undefined },
): TestFlags<Own>;
export function testFlags(given: object = {}, options: TestFlagsOptions = {}): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidInput([{ message: 'testFlags takes an object of values by name of the flag', path: '' }]);
  }
  const values = given as TestValues;
  // A flag may have the name of a member that every object inherits.
  const testValueOf = (flag: string) => (Object.hasOwn(values, flag) ? values[flag] : undefined) ?? false;
  const fault = describeUnknownOption(options, Object.keys(OPTIONS));
  if (fault) throw invalidInput([{ message: `testFlags ${fault}`, path: '' }]);
  const { schema, now = () => new Date() } = options;
  for (const flag of Object.keys(values)) {
    if (schema && !Object.hasOwn(schema.flags, flag)) throwUnknownFlag(flag, Object.keys(schema.flags));
  }
  assertTestValues(values, schema);
  const ids = { last: 0 };
  const { settings } = prepareEngine({ ...options, storage: memoryStorage() }, memoryStorage());
  const createdAt = now().toISOString();
  const seed = { settings, createdAt, newId: options.newId ?? countedIds(ids) };
  const declarations = Object.entries(schema?.flags ?? {});
  const undeclared = schema ? [] : Object.keys(values);
  const projects = new Set([DEFAULT_PROJECT, ...declarations.flatMap(([, { project }]) => project ?? [])]);
  const changes = [
    ...[...projects].map((id) => seedProject(id, createdAt)),
    ...declarations.map(([flag, declaration]) => seedFlag(flag, { value: testValueOf(flag), declaration }, seed)),
    ...undeclared.map((flag) => seedFlag(flag, { value: testValueOf(flag), declaration: {} }, seed)),
  ];
  const commit = toCommit(changes, { at: createdAt, actor: options.actor ?? 'system' });
  return openState({ options, commits: [JSON.stringify(commit)], ids });
}

/** The record type requires an entry for every option. */
const OPTIONS: Readonly<Record<keyof TestFlagsOptions, true>> = {
  environments: true,
  environment: true,
  strategies: true,
  idEncoding: true,
  roles: true,
  flagTypes: true,
  isUser: true,
  actor: true,
  now: true,
  newId: true,
  schema: true,
  onProblem: true,
  onError: true,
};

function countedIds(ids: { last: number }): () => string {
  return () => `00000000-0000-4000-8000-${(++ids.last).toString(16).padStart(12, '0')}`;
}

function seedProject(id: string, createdAt: string): SeedDocument {
  const name = id === DEFAULT_PROJECT ? 'Default' : id;
  return seedDocument(projectDocuments, id, createProject(undefined, { id, name }, createdAt));
}

/** The change set that creates the flags of the test. */
const SEED = '00000000-0000-4000-8000-000000000000';

function toCommit(seeds: readonly SeedDocument[], { at, actor }: { at: string; actor: string }): Commit {
  const origin = { at, actor, changeSet: SEED, reason: null };
  return {
    writes: seeds.map(({ write }) => write),
    events: seeds.flatMap(({ write: { key: subject }, events, project }) =>
      events.map(({ type, environment = null, data, before }) => {
        return { ...origin, type, subject, project, environment, data, before };
      }),
    ),
  };
}

/** Opens the engine of an origin, synchronously. */
function openState({ options, commits: earlier, ids }: Origin): TestFlags {
  const { storage, commits } = recordingStorage(earlier);
  const all = {
    newId: countedIds(ids),
    due: { run: 'elsewhere' } as const,
    ...options,
    storage,
    pollInterval: 0,
    usage: { interval: 0 },
  };
  const overrides = createOverrides();
  const documents = new DocumentCache(REGISTRY);
  loadCommits(documents, earlier);
  const engine = prepareEngine(all, storage).start({ after: undefined, documents });
  const { replica } = engine;
  const { flags } = createFlags(Object.assign(engine, { replica: withOverrides(replica, overrides) }), all);
  const fork = () => {
    const origin = { options, commits: commits.slice(), ids: { ...ids } };
    return lazyFork(() => openState(origin), replica.state.standard.snapshot, options);
  };
  return addControls(flags, { replica, overrides, schema: options.schema, fork });
}

interface Controls {
  readonly replica: Replica;
  readonly overrides: Overrides;
  readonly schema: FlagsSchema | undefined;
  readonly fork: () => TestFlags;
}

function addControls(flags: Flags, controls: Controls): TestFlags {
  const { replica, overrides, schema, fork } = controls;
  const { documents, state } = replica;
  const assertKnown = (flag: string) => {
    if (!documents.flags.has(flag)) throwUnknownFlag(flag, documents.flags.keys());
  };
  const definitionOf = (flag: string) =>
    state.standard.snapshot.definition(flag) ?? throwUnknownFlag(flag, documents.flags.keys());
  const controlMethods: Omit<TestFlags, Exclude<keyof Flags, 'as'>> = {
    as: (...actor) => addControls(flags.as(...actor), controls),
    override(values, run) {
      for (const flag of Object.keys(values)) definitionOf(flag);
      assertTestValues(values, schema);
      return overrides.run(values, run);
    },
    vary(names: readonly string[], run: (values: Readonly<Record<string, boolean | string>>) => unknown) {
      const combinations = combine(names, (flag) => possibleValues(definitionOf(flag)));
      return runAll(combinations, (values) => overrides.run(values, () => run(values))) as Promise<void>;
    },
    fork,
  };
  // Inherits, like the interface of another actor does.
  return Object.assign(Object.create(flags) as Flags, strictEvaluation(flags, assertKnown), controlMethods);
}

type Strict = Omit<Evaluator, 'evaluateAll'> & Pick<EvaluationOperations, 'evaluator'>;

/** Evaluation that throws for unknown flags. */
function strictEvaluation({ evaluator }: Flags, assertKnown: (flag: string) => void): Strict {
  const strict =
    <Input extends readonly unknown[], Result>(evaluate: (flag: string, ...input: Input) => Result) =>
    (flag: string, ...input: Input): Result => {
      assertKnown(flag);
      return evaluate(flag, ...input);
    };
  const evaluation: Omit<Evaluator, 'evaluateAll'> = {
    isEnabled: strict(evaluator.isEnabled),
    getVariant: strict(evaluator.getVariant),
    getPayload: strict(evaluator.getPayload),
    explain: strict(evaluator.explain),
    forContext(context, options): ContextualFlags {
      const mine = evaluator.forContext(context, options);
      const { isEnabled, getVariant, getPayload } = mine;
      return {
        ...mine,
        isEnabled: strict(isEnabled),
        getVariant: strict(getVariant),
        getPayload: strict(getPayload),
      };
    },
  };
  return { ...evaluation, evaluator: Object.freeze({ ...evaluation, evaluateAll: evaluator.evaluateAll }) };
}

/**
 * Runs a function with other values of some flags: {@link TestFlags.override} as a function.
 *
 * @example
 * await withFlags(flags, { checkout: false }, () => request(app).get('/cart').expect(200));
 */
export function withFlags<Values, Result>(
  flags: { override<R>(values: Values, run: () => R): R },
  values: Values,
  run: () => Result,
): Result {
  assertTestFlags('withFlags', flags);
  return flags.override(values, run);
}

/**
 * Runs a function with every combination of values of some flags: {@link TestFlags.vary} as a function.
 *
 * @example
 * await vary(flags, ['checkout', 'banner'], async () => assert.equal((await get('/cart')).status, 200));
 */
export function vary<Name extends string>(
  flags: {
    vary(
      names: readonly Name[],
      run: (values: Readonly<Record<Name, boolean | string>>) => Promise<unknown>,
    ): Promise<void>;
  },
  names: readonly NoInfer<Name>[],
  run: (values: Readonly<Record<Name, boolean | string>>) => Promise<unknown>,
): Promise<void>;
export function vary<Name extends string>(
  flags: { vary(names: readonly Name[], run: (values: Readonly<Record<Name, boolean | string>>) => unknown): unknown },
  names: readonly NoInfer<Name>[],
  run: (values: Readonly<Record<Name, boolean | string>>) => unknown,
): void;
export function vary(
  flags: {
    vary(names: readonly string[], run: (values: Readonly<Record<string, boolean | string>>) => unknown): unknown;
  },
  names: readonly string[],
  run: (values: Readonly<Record<string, boolean | string>>) => unknown,
): unknown {
  assertTestFlags('vary', flags);
  return flags.vary(names, run);
}

function assertTestFlags(name: string, flags: object): void {
  if (typeof (flags as Partial<TestFlags> | null)?.override === 'function') return;
  throw new TypeError(`${name} needs the flags of testFlags(…) as its first argument.`);
}
