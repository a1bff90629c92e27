import type { Constraint, DefinedFlag, Definitions, Flags, StrategyInput } from '@flags/core';
import { loadDefinitions } from '@flags/core/integration/http';
import request from 'supertest';
import { createHostApp, FLAGS } from '../host-app.js';

/*
 * The rules for what a change brings: each, at every entry, when it is new, and when the store has it already.
 */

const on = (operator: string, operand: Partial<Constraint>, contextName = 'email') =>
  ({ contextName, operator, ...operand }) as Constraint;
const matching = (value: string) => on('REGEX', { value });
const many = (count: number) => Array.from({ length: count }, (_, n) => matching(`^${n}$`));

interface StrategyRow {
  readonly name?: string;
  readonly parameters?: Readonly<Record<string, string | number>>;
  readonly constraints?: readonly Constraint[];
  /** Below the strategy. */
  readonly path: string;
}

const VALUES = ['IN', 'NOT_IN', 'STR_CONTAINS', 'STR_STARTS_WITH', 'STR_ENDS_WITH'];
const SECOND_VALUE = '/constraints/0/values/1';

const STRATEGIES: Readonly<Record<string, StrategyRow>> = {
  ...Object.fromEntries(
    VALUES.map((operator) => [
      `blanks as a value of ${operator}`,
      { constraints: [on(operator, { values: ['@example.org', ' \t'] })], path: SECOND_VALUE },
    ]),
  ),
  'a time without an offset': {
    constraints: [on('DATE_AFTER', { value: '2024-06-01T00:00:00' }, 'currentTime')],
    path: '/constraints/0/value',
  },
  'a long pattern': { constraints: [matching('a'.repeat(251))], path: '/constraints/0/value' },
  'repetitions, multiplied': { constraints: [matching('(?:a{10}|b){6}')], path: '/constraints/0/value' },
  'a fraction of a percent, as text': {
    name: 'flexibleRollout',
    parameters: { rollout: '0.5' },
    path: '/parameters/rollout',
  },
  'a fraction of a percent': {
    name: 'flexibleRollout',
    parameters: { rollout: 99.9 },
    path: '/parameters/rollout',
  },
  'a fraction in a gradual rollout': {
    name: 'gradualRolloutUserId',
    parameters: { percentage: '12.5', groupId: 'a' },
    path: '/parameters/percentage',
  },
  'more than 20 patterns': { constraints: many(21), path: '' },
};

const REF = { project: 'default', flag: 'checkout', environment: 'production' } as const;
const FLAG = { project: 'default', flag: 'checkout' } as const;
const ENVIRONMENT = `${FLAGS}/checkout/environments/production`;

/** Returns the paths of a refusal; undefined if the call succeeds. */
async function pathsOf(attempt: () => Promise<unknown>): Promise<readonly (string | undefined)[] | undefined> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    const { code, details } = error as { code?: string; details: readonly { path?: string }[] };
    if (code !== 'invalid_input') throw error;
    return details.map(({ path }) => path);
  }
}

async function start(stored?: Omit<Definitions, 'version'>) {
  const { app, flags } = await createHostApp();
  running.push(flags);
  if (stored) await loadDefinitions(flags, { version: 1, ...stored });
  const agent = request(app);
  const send = async (method: 'post' | 'put' | 'patch', path: string, body: object) => {
    const reply = await agent[method](path).send(body);
    if (reply.status < 400) return;
    expect([path, reply.status, reply.body]).toEqual([path, 400, reply.body]);
    throw { code: 'invalid_input', details: reply.body.details };
  };
  return { flags, send };
}

const running: Flags[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((flags) => flags.close()));
});

describe.each(Object.entries(STRATEGIES))('%s in a strategy', (_, { path, name = 'default', ...row }) => {
  const faulty = { name, ...row } as StrategyInput;
  const fine: StrategyInput = { name: 'default', title: 'fine' };
  const flag = (strategies: readonly object[]) =>
    ({ name: 'checkout', environments: { production: { enabled: true, strategies } } }) as unknown as DefinedFlag;

  it('is refused at every entry when it is new', async () => {
    const { flags, send } = await start({ flags: [flag([fine])] });
    const [{ id } = { id: '' }] = (await flags.getFlag(FLAG)).environments[1]?.strategies ?? [];
    const strategy = { ...REF, strategy: id };
    const members = Object.entries(faulty);
    const replacing = members.map(([member, value]) => ({ op: 'add', path: `/${member}`, value }));
    const configuration = { enabled: true, strategies: [fine, faulty] };
    const inEnvironment = path && `/strategies/1${path}`;
    const inDocument = path && `/environments/production/strategies/1${path}`;
    const document = { version: 1, flags: [flag([fine, faulty])] } as const;
    const changes = [{ op: 'addStrategy', ref: REF, input: faulty }] as const;
    const entries: readonly (readonly [string, string, () => Promise<unknown>])[] = [
      ['addStrategy', path, () => flags.addStrategy(REF, faulty)],
      ['updateStrategy', path, () => flags.updateStrategy(strategy, faulty)],
      ['configureEnvironment', inEnvironment, () => flags.configureEnvironment(REF, configuration)],
      ['apply', `/changes/0/input${path}`, () => flags.apply(changes)],
      ['plan', `/changes/0/input${path}`, () => flags.plan(changes)],
      ['import', `/flags/0${inDocument}`, () => flags.definitions.import(document)],
      ['dry import', `/flags/0${inDocument}`, () => flags.definitions.import(document, { dryRun: true })],
      ['POST', path, () => send('post', `${ENVIRONMENT}/strategies`, faulty)],
      ['PUT', path, () => send('put', `${ENVIRONMENT}/strategies/${id}`, faulty)],
      ['PATCH', path, () => send('patch', `${ENVIRONMENT}/strategies/${id}`, replacing)],
      ['POST /changes of an environment', `/changes/0/input${inEnvironment}`, () => sendEnvironment(configuration)],
      ['POST /changes', `/changes/0/input${path}`, () => send('post', '/api/admin/changes', { changes })],
      ['POST /import', `/flags/0${inDocument}`, () => send('post', '/api/admin/import', { definitions: document })],
    ];
    const sendEnvironment = (input: object) =>
      send('post', '/api/admin/changes', { changes: [{ op: 'configureEnvironment', ref: REF, input }] });
    const before = await flags.definitions.export();
    for (const [entry, expected, attempt] of entries) {
      expect([entry, await pathsOf(attempt)]).toEqual([entry, [expected]]);
    }
    expect(await flags.definitions.export()).toEqual(before);
  });

  it('passes where the flag has it already', async () => {
    const { flags, send } = await start({ flags: [flag([{ ...faulty, title: 'old' }, fine])] });
    const strategiesNow = async () => (await flags.getFlag(FLAG)).environments[1]?.strategies ?? [];
    const [old, other] = await strategiesNow();
    const place = `${ENVIRONMENT}/strategies/${old?.id}`;
    await send('patch', place, [{ op: 'add', path: '/title', value: 'patched' }]);
    await send('put', place, { ...faulty, title: 'put' });
    const changes = [{ op: 'configureEnvironment', ref: REF, input: { enabled: true, strategies: [faulty, fine] } }];
    await send('post', '/api/admin/changes', { changes });
    await flags.configureEnvironment(REF, { enabled: true, strategies: [{ ...fine }, faulty] });
    await send('patch', `${FLAGS}/checkout`, [{ op: 'replace', path: '/description', value: 'new' }]);
    const exported = await flags.definitions.export();
    await flags.definitions.import(exported);
    await send('post', '/api/admin/import', { definitions: exported });
    await flags.cloneFlag(FLAG, { name: 'copy' });
    expect(other).toBeDefined();
    const [, strategy] = await strategiesNow();
    const { id } = await flags.apply([{ op: 'removeStrategy', ref: { ...REF, strategy: `${strategy?.id}` } }]);
    await flags.history.undo({ changeSet: `${id}` });
    const [, back] = await strategiesNow();
    expect(back).toMatchObject({ parameters: faulty.parameters ?? {}, constraints: faulty.constraints ?? [] });
    // Another store does not have it: there it is new.
    const { flags: another } = await start();
    const places = (await pathsOf(() => another.definitions.import(exported))) ?? [];
    expect(places.length).toBeGreaterThan(0);
    for (const one of places) expect(one).toMatch(/^\/flags\/[01]/);
  });
});

/** Faults of other parts: what has them, how they come in, and a change of something else. */
interface PartRow {
  readonly stored: Omit<Definitions, 'version'>;
  readonly fine: Omit<Definitions, 'version'>;
  readonly path: string;
  /** Paths at the other entries. */
  readonly own: string;
  bring(at: Entry): readonly (() => Promise<unknown>)[];
  touch(at: Entry): readonly (() => Promise<unknown>)[];
}

type Entry = Awaited<ReturnType<typeof start>>;

const VARIANTS = `${FLAGS}/checkout/variants`;
const withOverride = (value: string) => [
  { name: 'a', overrides: [{ contextName: 'userId', values: ['7', value] }] },
  { name: 'b' },
];

function segmentRow(constraints: readonly Constraint[], path: string): PartRow {
  const segment = (given: readonly Constraint[]) => ({ id: 1, name: 'beta', constraints: given });
  return {
    stored: { segments: [segment(constraints)] },
    fine: { segments: [segment([])] },
    path: `/segments/0${path}`,
    own: path,
    bring: ({ flags, send }) => [
      () => flags.segments.create({ name: 'other', constraints }),
      () => flags.segments.update({ segment: 1 }, { constraints }),
      () => send('post', '/api/admin/segments', { name: 'other', constraints }),
      () => send('put', '/api/admin/segments/1', { name: 'beta', constraints }),
    ],
    touch: ({ flags, send }) => [
      () => flags.segments.update({ segment: 1 }, { description: 'new' }),
      () =>
        flags.segments.update({ segment: 1 }, { constraints: [...constraints.slice(1), ...constraints.slice(0, 1)] }),
      () => send('put', '/api/admin/segments/1', { name: 'beta', constraints }),
    ],
  };
}

const PARTS: Readonly<Record<string, PartRow>> = {
  ...Object.fromEntries(
    Object.entries({ 'a blank': ' ', 'an empty text': '', 'blanks around it': ' 8' }).map(([words, value]) => [
      `an override with ${words}`,
      {
        stored: { flags: [{ name: 'checkout', variants: withOverride(value) }] },
        fine: { flags: [{ name: 'checkout', variants: withOverride('9') }] },
        path: '/flags/0/variants/0/overrides/0/values/1',
        own: '/0/overrides/0/values/1',
        bring: ({ flags, send }: Entry) => [
          () => flags.setVariants(FLAG, withOverride(value)),
          () => send('put', VARIANTS, withOverride(value)),
          () => send('patch', VARIANTS, [{ op: 'replace', path: '/0/overrides/0/values/1', value }]),
        ],
        touch: ({ flags, send }: Entry) => [
          () => flags.setVariants(FLAG, withOverride(value).toReversed()),
          () => send('put', VARIANTS, [...withOverride(value), { name: 'c' }]),
          () => send('patch', VARIANTS, [{ op: 'remove', path: '/2' }]),
        ],
      },
    ]),
  ),
  'a label with blanks around it': {
    stored: { flags: [{ name: 'checkout', labels: ['team:a', ' old'] }] },
    fine: { flags: [{ name: 'checkout', labels: ['team:a'] }] },
    path: '/flags/0/labels/1',
    own: '/labels/1',
    bring: ({ flags }) => [
      () => flags.updateFlag(FLAG, { labels: ['team:a', ' old'] }),
      () => flags.changeLabels(FLAG, { add: [' old'] }),
      () => flags.createFlag({ project: 'default' }, { name: 'other', labels: ['team:a', ' old'] }),
    ],
    touch: ({ flags }) => [
      () => flags.updateFlag(FLAG, { labels: [' old', 'team:b'] }),
      () => flags.changeLabels(FLAG, { add: ['team:c'] }),
    ],
  },
  'a name of a segment with blanks around it': {
    stored: { segments: [{ id: 1, name: ' beta', constraints: [] }] },
    fine: { segments: [{ id: 1, name: 'beta', constraints: [], createdAt: '2026-01-01T00:00:00Z' }] },
    path: '/segments/0/name',
    own: '/name',
    bring: ({ flags, send }) => [
      () => flags.segments.create({ name: ' beta', constraints: [] }),
      () => flags.segments.update({ segment: 1 }, { name: 'beta ' }),
      () => send('post', '/api/admin/segments', { name: ' ', constraints: [] }),
    ],
    touch: ({ flags, send }) => [
      () => flags.segments.update({ segment: 1 }, { description: 'new' }),
      () => send('put', '/api/admin/segments/1', { name: ' beta', constraints: [] }),
    ],
  },
  'a name of a project with blanks around it': {
    stored: { projects: [{ id: 'shop', name: 'Shop ' }] },
    fine: { projects: [{ id: 'shop', name: 'Shop' }] },
    path: '/projects/0/name',
    own: '/name',
    bring: ({ flags, send }) => [
      () => flags.createProject({ id: 'other', name: ' ' }),
      () => flags.updateProject({ project: 'shop' }, { name: 'Shop ' }),
      () => send('post', '/api/admin/projects', { id: 'other', name: ' Shop' }),
      () => send('put', '/api/admin/projects/shop', { name: 'Shop ' }),
    ],
    touch: ({ flags, send }) => [
      () => flags.updateProject({ project: 'shop' }, { description: 'new' }),
      () => send('put', '/api/admin/projects/shop', { name: 'Shop ', description: 'newer' }),
    ],
  },
  'blanks in a segment': segmentRow([on('STR_ENDS_WITH', { values: ['a', ' '] })], '/constraints/0/values/1'),
  'a time without an offset in a segment': segmentRow(
    [on('DATE_BEFORE', { value: '2024-06-01 10:00' }, 'currentTime')],
    '/constraints/0/value',
  ),
  'a long pattern in a segment': segmentRow([matching('a'.repeat(251))], '/constraints/0/value'),
  'more than 20 patterns in a segment': segmentRow(many(21), '/constraints'),
};

describe.each(Object.entries(PARTS))('%s', (_, { stored, fine, path, own, bring, touch }) => {
  it('is refused at every entry when it is new', async () => {
    const entry = await start(fine);
    const before = await entry.flags.definitions.export();
    for (const attempt of bring(entry)) expect(await pathsOf(attempt)).toEqual([own]);
    expect(await pathsOf(() => entry.flags.definitions.import({ version: 1, ...stored }))).toEqual([path]);
    expect(
      await pathsOf(() => entry.send('post', '/api/admin/import', { definitions: { version: 1, ...stored } })),
    ).toEqual([path]);
    expect(await entry.flags.definitions.export()).toEqual(before);
  });

  it('passes where the document has it already', async () => {
    const entry = await start(stored);
    for (const attempt of touch(entry)) expect(await pathsOf(attempt)).toBeUndefined();
    const exported = await entry.flags.definitions.export();
    await entry.flags.definitions.import(exported);
    await entry.send('post', '/api/admin/import', { definitions: exported });
    expect(await entry.flags.definitions.export()).toEqual(exported);
  });
});

describe('the id of a strategy with blanks around it', () => {
  const strategies = [{ id: ' a', name: 'default' }];
  const document = { version: 1, flags: [{ name: 'checkout', environments: { production: { strategies } } }] } as const;

  it('is refused when it is new, and passes where the flag has it', async () => {
    const { flags } = await start();
    const place = '/flags/0/environments/production/strategies/0/id';
    expect(await pathsOf(() => flags.definitions.import(document))).toEqual([place]);
    const { flags: another } = await start(document);
    await another.definitions.import(await another.definitions.export());
    await another.updateStrategy({ ...REF, strategy: ' a' }, { name: 'default', title: 'new' });
  });
});

describe('a new fault beside an old one', () => {
  it('is refused alone', async () => {
    const constraints = [on('IN', { values: ['a', ' '] })];
    const flag = { name: 'checkout', environments: { production: { strategies: [{ name: 'default', constraints }] } } };
    const { flags } = await start({ flags: [flag] });
    const more = [...constraints, on('IN', { values: ['b', ' '] })];
    expect(await pathsOf(() => flags.addStrategy(REF, { name: 'default', constraints: more }))).toEqual([
      '/constraints/1/values/1',
    ]);
    // An equal constraint, wherever in the flag; a default may be written or left out.
    const same = constraints.map((constraint) => ({ ...constraint, inverted: false }));
    await flags.addStrategy({ ...REF, environment: 'development' }, { name: 'default', constraints: same });
  });
});
