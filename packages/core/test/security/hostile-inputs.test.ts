import fc from 'fast-check';
import { RE2JS } from 're2js';
import { parseNumber } from '../../src/base/primitives.js';
import { patterns } from '../../src/evaluation/re2.js';
import { definitionsSchema, type Flags, isFlagsError, memoryStorage, openFlags } from '../../src/index.js';
import { type InputSchemas, inputSchemas } from '../../src/input-schemas.js';
import { createSettings } from '../../src/options.js';
import { everythingIn } from '../everything.js';
import { extremesOf } from '../extremes.js';
import { methodsOf, operationOfMethod } from '../method-names.js';
import { DEFAULT, PRODUCTION } from '../references.js';
import { refusalOf } from '../refusal.js';
import { SILENT } from '../replica/silent.js';
import { furnish, TAKERS } from './every-input.js';

const LEVELS = 100_000;
const INHERITED = [Object.prototype, Array.prototype, String.prototype, Function.prototype];

function deep(kind: 'lists' | 'objects'): unknown {
  let value: unknown = kind === 'lists' ? [] : {};
  for (let level = 0; level < LEVELS; level++) value = kind === 'lists' ? [value] : { a: value };
  return value;
}

const MONSTERS = { lists: deep('lists'), objects: deep('objects') };

/** Returns copies of a value, each with one member replaced or added. */
function withInside(value: unknown, monster: unknown): readonly unknown[] {
  if (Array.isArray(value)) {
    const inner = value.flatMap((item, index) => withInside(item, monster).map((one) => value.with(index, one)));
    return [monster, [...value, monster], ...inner];
  }
  if (typeof value !== 'object' || value === null) return [monster];
  const members = Object.entries(value).flatMap(([name, member]) =>
    withInside(member, monster).map((one) => ({ ...value, [name]: one })),
  );
  return [monster, { ...value, unknown: monster }, ...members];
}

/** Parsed JSON with dangerous names of members in every object. */
function poisoned(value: unknown): unknown {
  const poison = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1}';
  return JSON.parse(JSON.stringify(value).replaceAll(/\{(\})?/g, (_, end) => `{${poison}${end ?? ','}`));
}

async function outcomeOf(attempt: () => Promise<unknown>): Promise<'done' | 'refused'> {
  try {
    await attempt();
    return 'done';
  } catch (error) {
    if (isFlagsError(error)) return 'refused';
    throw error;
  }
}

describe.each(Object.entries(TAKERS))('%s', (_, { input, take }) => {
  let flags: Flags<string>;

  beforeEach(async () => {
    const options = { onProblem: () => undefined, due: { run: 'elsewhere' } } as const;
    flags = await openFlags<string>({ ...options, storage: memoryStorage() });
    await furnish(flags);
  });
  afterEach(() => flags.close());

  it('accepts valid input', async () => {
    await expect(take(flags, input)).resolves.not.toThrow();
  });

  it.each(['lists', 'objects'] as const)('rejects 100,000 nested %s at any place', async (kind) => {
    const outcomes = new Set<string>();
    for (const hostile of withInside(input, MONSTERS[kind])) outcomes.add(await outcomeOf(() => take(flags, hostile)));
    expect(outcomes).toContain('refused');
    // An accepted value is not deeper than its parts.
    expect(JSON.stringify(await everythingIn(flags))).not.toContain('['.repeat(20));
  });

  it('changes no prototype, whatever its members are called', async () => {
    const before = INHERITED.map((prototype) => Object.getOwnPropertyNames(prototype));
    await outcomeOf(() => take(flags, poisoned(input)));
    expect(INHERITED.map((prototype) => Object.getOwnPropertyNames(prototype))).toEqual(before);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(JSON.stringify(await everythingIn(flags))).not.toContain('"polluted"');
  });
});

const SETTINGS = createSettings({});

/** The names of the schemas of inputs that no operation on documents has. */
const REPORTS: Readonly<Record<string, keyof InputSchemas>> = {
  registerApplication: 'registration',
  reportMetrics: 'metricsReport',
  reportMetricsInBulk: 'bulkReport',
  consume: 'consumer',
  'consumers.reset': 'consumerReset',
  listFlags: 'flagQuery',
  'events.list': 'feedQuery',
};

/** Operations whose inputs have a schema here, and those inputs with the largest and smallest values in each place. */
const EXTREMES = Object.entries(TAKERS).flatMap(([name, { take }]) => {
  const schemas = inputSchemas(SETTINGS);
  const schema = (operationOfMethod(name).input ?? REPORTS[name]) as keyof InputSchemas | undefined;
  if (name === 'definitions.import') return [[name, take, extremesOf(definitionsSchema(SETTINGS))] as const];
  return schema ? [[name, take, extremesOf(schemas[schema])] as const] : [];
});

describe('the largest and the smallest inputs that a schema admits', () => {
  let flags: Flags<string>;

  beforeEach(async () => {
    flags = await openFlags<string>({ storage: memoryStorage(), ...SILENT });
    await furnish(flags);
  });
  afterEach(() => flags.close());

  it.each(EXTREMES)('of %s leave a store that can be changed, evaluated and copied', async (_, take, inputs) => {
    for (const input of inputs) expect(['done', 'refused']).toContain(await outcomeOf(() => take(flags, input)));
    const ids = [];
    for (const name of ['one', 'two', 'three']) ids.push((await flags.segments.create({ name, constraints: [] })).id);
    expect(new Set(ids).size).toBe(3);
    await flags.createFlag(DEFAULT, { name: 'next' });
    // Inputs of requests need a policy.
    const bypass = { bypassApproval: 'a new flag' };
    await flags.addStrategy({ ...PRODUCTION, flag: 'next' }, { name: 'default', segments: ids }, bypass);
    await flags.enable({ ...PRODUCTION, flag: 'next' }, bypass);
    expect(flags.isEnabled('next', {}, { environment: 'production' })).toBe(true);
    const definitions = await flags.definitions.export();
    expect(await flags.definitions.import(definitions, { dryRun: true })).toMatchObject({ differences: [] });
    const copy = await openFlags<string>({ storage: memoryStorage(), isUser: () => true, ...SILENT });
    await copy.definitions.import(definitions);
    expect((await copy.definitions.export()).flags).toEqual(definitions.flags);
    await copy.close();
  });
});

describe('the operations under test', () => {
  it('include all that have input', async () => {
    const flags = await openFlags<string>({ storage: memoryStorage() });
    const withoutInput =
      /^(as|close|closing|settings|dataVersion|subscribe|on[A-Z]\w+|is[A-Z]\w+|forContext|explain|evaluateAll|configuration|recentContexts|projectOf|status|refresh|get\w+|listMembers|listProjects|listPossibleParents|delete\w+|remove\w+|archive\w+|locate\w+|revive\w+|enable|disable|verifyTokens?|changeMemberRole|runDue|history\.(planUndo|get|listProjects|asOf)|events\.listNext|usage\.\w+|\w+\.(get|delete)|(segments|tokens|consumers|applications)\.list\w*)$/;
    const operations = [...methodsOf(flags).keys()].filter((name) => !withoutInput.test(name));
    expect(operations.filter((name) => !(name in TAKERS))).toEqual([]);
    await flags.close();
  });
});

// With exponential time, none of these would end: the test measures nothing.

/** The built-in engine of JavaScript would never finish any of them on the text beside it. */
const CATASTROPHES: readonly (readonly [string, string])[] = [
  ['^(a+)+$', `${'a'.repeat(499)}b`],
  ['^(a|a)*$', `${'a'.repeat(499)}b`],
  ['^(a|aa)+$', `${'a'.repeat(499)}b`],
  ['^([a-zA-Z]+)*$', `${'a'.repeat(499)}1`],
  ['^(.*a){20}$', `${'a'.repeat(499)}b`],
  ['^(a?){50}a{50}$', 'a'.repeat(49)],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(500)],
  ['(x+x+)+y', 'x'.repeat(500)],
];

const TOO_LARGE = [
  '(a{1000}){1000}',
  '((a{100}){100}){100}',
  '(((a{10}){10}){10}){10}',
  '(?:(?:\\pL{500}){500})',
  `${'(?:'.repeat(20)}a${'{9}){9}'.repeat(20)}`,
  '\\pL{1000}\\pL{1000}',
];

/** Patterns whose size is checked before they are compiled. */
const HARD_TO_READ = [
  `[${'\\a'.repeat(499)}`,
  `[${'\\'.repeat(999)}`,
  `[${'[:a:'.repeat(249)}`,
  '[[:a:]'.repeat(160),
  '\\p{'.repeat(333),
  '\\Q'.repeat(500),
  `a{${'1'.repeat(990)}`,
  '{1,'.repeat(333),
  '('.repeat(1000),
  `${'('.repeat(500)}${')'.repeat(500)}`,
  '['.repeat(1000),
];

describe('a regular expression of a user', () => {
  it.each(CATASTROPHES)('is matched in linear time: %s', async (value, userId) => {
    const flags = await openFlags<string>({ storage: memoryStorage(), ...SILENT });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, {
      name: 'default',
      constraints: [{ contextName: 'userId', operator: 'REGEX', value }],
    });
    await flags.enable(PRODUCTION);
    expect(flags.isEnabled('checkout', { userId })).toBe(false);
    await flags.close();
  });

  it('matches no text of more than 500 characters', async () => {
    const flags = await openFlags<string>({ storage: memoryStorage(), ...SILENT });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    const constraint = { contextName: 'userId', operator: 'REGEX', value: 'a' } as const;
    await flags.addStrategy(PRODUCTION, { name: 'default', constraints: [constraint] });
    await flags.enable(PRODUCTION);
    expect(flags.isEnabled('checkout', { userId: 'a'.repeat(500) })).toBe(true);
    expect(flags.isEnabled('checkout', { userId: 'a'.repeat(501) })).toBe(false);
    await flags.close();
  });

  it.each(TOO_LARGE)('is refused before it is compiled if it is too large: %s', async (value) => {
    const flags = await openFlags<string>({ storage: memoryStorage(), ...SILENT });
    const constraints = [{ contextName: 'userId', operator: 'REGEX', value }] as const;
    const refusal = await refusalOf(flags.segments.create({ name: 'large', constraints }));
    expect([refusal.code, refusal.details[0]?.path]).toEqual(['invalid_input', '/constraints/0/value']);
    await flags.close();
  });

  it.each(HARD_TO_READ.map((text) => [`${text.slice(0, 12)}…`, text]))('is read in linear time: %s', (_, text) => {
    expect(typeof patterns.isPattern(text)).toBe('boolean');
  });

  it('compiles to a bounded program', () => {
    const piece = fc.constantFrom(
      ...['a', '.', '\\pL', '[a-z]', '[^\\x{0}-\\x{ff}]', '(?i)', '(', ')', '(?:', '|', '*', '+', '?', '^', '\\b'],
      ...['{2}', '{9,}', '{0,30}', '{1000}', '{1,100}', '\\Qab\\E', '[[:alpha:]]'],
    );
    const pattern = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));
    const property = fc.property(pattern, (text) => {
      fc.pre(patterns.isPattern(text));
      expect(RE2JS.compile(text, RE2JS.CASE_INSENSITIVE).programSize()).toBeLessThan(6000);
    });
    fc.assert(property, { numRuns: 300, examples: [['(x{0,}){500}'], ['((((a?)?)?)?){200}'], ['(?:(?:a?){30}){30}']] });
  });
});

describe('a text that should be a number', () => {
  it('is read in linear time', () => {
    expect(parseNumber(`${'1'.repeat(1_000_000)}x`)).toBeUndefined();
    expect(parseNumber(`1.${'1'.repeat(1_000_000)}x`)).toBeUndefined();
  });
});
