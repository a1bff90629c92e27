import { join } from 'node:path';
import { definitionsSchema } from '../../src/features/definitions/check-definitions.js';
import { type AnyOperation, OPERATIONS } from '../../src/features.js';
import { type Flags, memoryStorage, openFlags } from '../../src/index.js';
import { createValidators } from '../../src/input-schemas.js';
import { type InputSchemas, inputSchemas } from '../../src/integration/http.js';
import type { JsonSchema } from '../../src/integration/shared.js';
import { type Mutant, mutantsOf } from './mutants.js';
import { type Refusal, type RefusalTable, recorded, refusalOf } from './table.js';

/** The schemas of what operations check themselves. */
const CHECKED_BY_OPERATION: Readonly<Record<string, JsonSchema>> = {
  preview: {
    type: 'object',
    properties: {
      environment: { type: 'string', enum: ['production'] },
      contexts: { type: 'array', maxItems: 1000, items: { type: 'object' } },
    },
    required: ['environment', 'contexts'],
  },
  listRollouts: {
    type: 'object',
    properties: {
      state: { type: 'string', enum: ['running'] },
      project: { type: 'string' },
      flag: { type: 'string' },
    },
  },
  listFlags: { type: 'object', properties: { limit: { type: 'integer', minimum: 1, maximum: 1000 } } },
};

const REF = {
  project: 'default',
  flag: 'f',
  environment: 'production',
  strategy: 's',
  segment: 1,
  token: 't',
  application: 'a',
  consumer: 'c',
  changeSet: 's',
  changeRequest: 'r',
};

/** A few of the mutants, so that the table stays short: the first ones, and then some from each part. */
function few(mutants: readonly Mutant[], most: number): readonly Mutant[] {
  const step = Math.max(1, Math.ceil(mutants.length / most));
  return mutants.filter((_, index) => index < 12 || index % step === 0);
}

type Method = (...given: unknown[]) => unknown;

function methodOf(flags: Flags, { op, method = op }: AnyOperation): Method {
  const path = method.split('.');
  const owner = path.slice(0, -1).reduce<unknown>((object, name) => Object(object)[name], flags);
  const found: Method = Object(owner)[path.at(-1) ?? ''];
  return found.bind(owner);
}

function argumentsOf({ ref }: AnyOperation, input: unknown): readonly unknown[] {
  return ref.length > 0 ? [REF, input] : [input];
}

async function refusalsOf(
  mutants: readonly Mutant[],
  call: (value: unknown) => unknown,
): Promise<Readonly<Record<string, Refusal>>> {
  const refusals: Record<string, Refusal> = {};
  for (const [label, value] of mutants) {
    const refusal = await refusalOf(() => call(value));
    if (refusal !== undefined) refusals[label] = refusal;
  }
  return refusals;
}

async function tableOf(flags: Flags): Promise<RefusalTable> {
  const schemas = inputSchemas(flags.settings);
  const table: Record<string, Readonly<Record<string, Refusal>>> = {};
  for (const row of Object.values<AnyOperation>(OPERATIONS)) {
    if (row.input === undefined) continue;
    const mutants = [...mutantsOf(schemas[row.input as keyof InputSchemas])];
    table[row.op] = await refusalsOf(few(mutants, 40), (input) => methodOf(flags, row)(...argumentsOf(row, input)));
  }
  const named = new Set(Object.values<AnyOperation>(OPERATIONS).map(({ input }) => input));
  const validators = createValidators(flags.settings);
  for (const [name, schema] of Object.entries(schemas)) {
    const validate = validators[name as keyof InputSchemas];
    if (!named.has(name)) table[name] = await refusalsOf(few([...mutantsOf(schema)], 40), validate);
  }
  for (const [op, schema] of Object.entries(CHECKED_BY_OPERATION)) {
    const row = OPERATIONS[op as keyof typeof OPERATIONS] as AnyOperation;
    const given = (input: unknown) => (op === 'preview' ? [[], input] : argumentsOf(row, input));
    table[op] = await refusalsOf([...mutantsOf(schema)], (input) => methodOf(flags, row)(...given(input)));
  }
  const mutants = few([...mutantsOf(definitionsSchema())], 150);
  table.importDefinitions = await refusalsOf(mutants, (input) => flags.definitions.import(input as never));
  return table;
}

const text = 'a'.repeat(101);
const named = { name: 'a', isEnabled: () => true };
/** Options that `openFlags` refuses. */
const OPTIONS: readonly object[] = [
  { environments: [] },
  { environments: null },
  { environments: ['a'] },
  { environments: [{}] },
  { environments: [{ name: '*' }, { name: '..' }, { name: 7, displayName: '' }] },
  { environments: [{ name: 'a' }, { name: 'a' }] },
  { environments: [{ name: 'a', displayName: text }] },
  { environment: 7 },
  { environment: 'nowhere' },
  { usage: null },
  { usage: { interval: -1, application: '..', instance: '', retention: '1' } },
  { usage: { interval: 2 ** 31 } },
  { strategies: {} },
  { strategies: [{ name: '' }] },
  { strategies: [{ name: 'a' }] },
  { strategies: [named, named] },
  { idEncoding: 'utf16' },
  { idEncoding: null },
  { roles: [] },
  { roles: [{ id: 0, name: '' }] },
  { roles: [{ id: 1.5 }] },
  { flagTypes: [] },
  { flagTypes: [{ name: 'a' }] },
  { flagTypes: [{ name: text, lifetimeDays: -1 }] },
  { flagTypes: [{ name: 'a', lifetimeDays: '7' }] },
  { flagTypes: [{ name: 'a', lifetimeDays: null, more: 1 }] },
  { isUser: true },
  { now: 7 },
  { newId: 'x' },
  { onProblem: {} },
  { onError: null },
  { onDrift: [] },
  { pollInterval: -1 },
  { pollInterval: '5' },
  { recentContexts: 1001 },
  { maxTokenLifetime: 5 },
  { declare: 'delete' },
  { due: { run: 'here' } },
  { due: { run: true, authorize: 7, guard: 7 } },
  { due: { run: true, more: 1 } },
  { schema: {} },
  { color: 1 },
];

describe('every refusal of an input', () => {
  let flags: Flags;

  beforeAll(async () => {
    flags = await openFlags({ storage: memoryStorage(), pollInterval: 0 });
    await flags.createFlag({ project: 'default' }, { name: 'f' });
  });
  afterAll(() => flags.close());

  it('has the message and the paths that were recorded', async () => {
    const table = await tableOf(flags);
    expect(table).toEqual(recorded(join(__dirname, 'refusals.json'), table));
    const number = Object.values(table).flatMap((refusals) => Object.keys(refusals)).length;
    expect(number).toBeGreaterThan(800);
  });

  it('of options has the message and the paths that were recorded', async () => {
    const options: Record<string, Refusal> = {};
    for (const given of OPTIONS) {
      const storage = memoryStorage();
      options[JSON.stringify(given).slice(0, 80)] =
        (await refusalOf(() => openFlags({ storage, pollInterval: 0, ...given }).then((open) => open.close()))) ??
        'accepted';
    }
    const table = { openFlags: options };
    expect(table).toEqual(recorded(join(__dirname, 'option-refusals.json'), table));
  });

  it('names the types of flags and the environments that the options configure', async () => {
    const own = await openFlags({
      storage: memoryStorage(),
      pollInterval: 0,
      environments: [{ name: 'here' }, { name: 'there' }],
      flagTypes: [{ name: 'slow', lifetimeDays: null }],
    });
    const table = {
      createFlag: await refusalsOf(
        [
          ['release', { name: 'a', type: 'release' }],
          ['more', { name: '', type: 'release', owner: 7, description: 7 }],
        ],
        (input) => own.createFlag({ project: 'default' }, input as never),
      ),
      importDefinitions: await refusalsOf(
        [['production', { version: 1, flags: [{ name: 'a', type: 'kill', environments: { production: {} } }] }]],
        (input) => own.definitions.import(input as never),
      ),
    };
    await own.close();
    expect(table).toEqual(recorded(join(__dirname, 'configured-refusals.json'), table));
  });
});
