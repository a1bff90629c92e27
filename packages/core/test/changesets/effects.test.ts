import { longestTurn, processorTime } from '../../../../test/processor-time.js';
import { type Change, createFlags, type Effect, type Flags, memoryStorage } from '../../src/index.js';

const DEFAULT = { project: 'default' };
const at = (flag: string, environment = 'production') => ({ ...DEFAULT, flag, environment });
const EVERYBODY = { name: 'default' };
const PAYLOAD = { type: 'string', value: 'x' } as const;

let flags: Flags;

beforeEach(async () => {
  flags = await createFlags({ storage: memoryStorage(), onProblem: () => undefined });
});

afterEach(() => flags.close());

/** Creates a flag that is on, or off, for everybody in production. */
async function add(name: string, { enabled = true } = {}): Promise<void> {
  await flags.createFlag(DEFAULT, { name });
  await flags.configureEnvironment(at(name), { enabled, strategies: [EVERYBODY] });
}

async function effectsOf(...changes: readonly Change[]): Promise<readonly Omit<Effect, 'project'>[]> {
  const { effects } = await flags.plan(changes);
  return effects.map(({ project: _project, ...effect }) => effect);
}

const seen = (flag: string, before: string, after: string, environment = 'production') => {
  return { flag, environment, before, after };
};
const another = (flag: string, environment = 'production') => ({
  ...seen(flag, 'on', 'on', environment),
  changed: true,
});

describe('the effects of a plan', () => {
  it('describe the effects of a switch, of a new definition, and of a deletion', async () => {
    await add('a');
    expect(await effectsOf({ op: 'disable', ref: at('a') })).toEqual([seen('a', 'on', 'off')]);
    expect(await effectsOf({ op: 'addStrategy', ref: at('a'), input: EVERYBODY })).toEqual([another('a')]);
    expect(await effectsOf({ op: 'archiveFlag', ref: at('a') })).toEqual([seen('a', 'on', 'absent')]);
    await flags.disable(at('a'));
    expect(await effectsOf({ op: 'enable', ref: at('a') })).toEqual([seen('a', 'off', 'on')]);
    expect(await effectsOf({ op: 'addStrategy', ref: at('a'), input: EVERYBODY })).toEqual([]);
    expect(await effectsOf({ op: 'archiveFlag', ref: at('a') })).toEqual([seen('a', 'off', 'absent')]);
  });

  it('are in every environment that a stored flag has, whatever this node lists', async () => {
    const storage = memoryStorage();
    const elsewhere = await createFlags({ storage, environments: [{ name: 'live' }, { name: 'qa' }] });
    await elsewhere.createFlag(DEFAULT, { name: 'old' });
    for (const environment of ['live', 'qa']) await elsewhere.addStrategy(at('old', environment), EVERYBODY);
    const here = await createFlags({ storage, environments: [{ name: 'production' }] });
    const { effects } = await here.plan([
      { op: 'createFlag', ref: DEFAULT, input: { name: 'new' } },
      { op: 'archiveFlag', ref: at('old') },
    ]);
    expect(effects.map(({ project: _project, ...effect }) => effect)).toEqual([
      seen('new', 'absent', 'off', 'live'),
      seen('old', 'off', 'absent', 'live'),
      seen('new', 'absent', 'off', 'qa'),
      seen('old', 'off', 'absent', 'qa'),
    ]);
    await Promise.all([elsewhere.close(), here.close()]);
  });

  it('ignore data that clients do not receive', async () => {
    await add('a');
    const [strategy] = (await flags.getFlag(at('a'))).environments[1]?.strategies ?? [];
    const ref = { ...at('a'), strategy: strategy?.id ?? '' };
    const { id } = await flags.createSegment({ name: 'EU', constraints: [] });
    const same = await flags.createSegment({ name: 'Europe', constraints: [] });
    await flags.updateStrategy(ref, { segments: [id], parameters: { b: '1', a: 2 } });
    const metadata = { description: 'New', type: 'experiment', stale: true, labels: ['x'], owner: 'ada' };
    expect(
      await effectsOf(
        { op: 'updateFlag', ref: at('a'), input: { ...metadata, impressionData: true } },
        { op: 'updateSegment', ref: { segment: id }, input: { name: 'European Union', description: 'All 27' } },
        { op: 'updateStrategy', ref, input: { title: 'T', segments: [same.id], parameters: { a: '2', b: 1 } } },
        { op: 'addStrategy', ref: at('a'), input: { ...EVERYBODY, disabled: true } },
        { op: 'updateProject', ref: DEFAULT, input: { description: 'New' } },
      ),
    ).toEqual([]);
    const input = { segments: [same.id], parameters: { a: '2', b: 2 } };
    expect(await effectsOf({ op: 'updateStrategy', ref, input })).toEqual([another('a')]);
  });

  it('reach the flags that use a segment', async () => {
    await add('user');
    await add('off', { enabled: false });
    await add('other');
    const { id } = await flags.createSegment({ name: 'EU', constraints: [] });
    for (const name of ['user', 'off']) await flags.addStrategy(at(name), { ...EVERYBODY, segments: [id] });
    const constraints = [{ contextName: 'country', operator: 'IN', values: ['DE'] }] as const;
    expect(await effectsOf({ op: 'updateSegment', ref: { segment: id }, input: { constraints } })).toEqual([
      another('user'),
    ]);
  });

  it('reach the children of a flag', async () => {
    for (const name of ['base', 'child', 'opposite']) await add(name);
    await flags.addDependency(at('child'), { flag: 'base' });
    await flags.addDependency(at('opposite'), { flag: 'base', enabled: false });
    expect(await effectsOf({ op: 'disable', ref: at('base') })).toEqual([
      seen('base', 'on', 'off'),
      seen('child', 'on', 'off'),
      another('opposite'),
    ]);
    expect(await effectsOf({ op: 'addStrategy', ref: at('base'), input: EVERYBODY })).toEqual([
      another('base'),
      another('child'),
      another('opposite'),
    ]);
    expect(await effectsOf({ op: 'removeDependency', ref: at('child'), input: { flag: 'base' } })).toEqual([
      another('child'),
    ]);
  });

  it('tell whether the variants of a flag that is off have payloads', async () => {
    await add('a', { enabled: false });
    const setVariants = (payload?: typeof PAYLOAD): Change => {
      return { op: 'setVariants', ref: at('a'), input: [{ name: 'red', ...(payload && { payload }) }] };
    };
    expect(await effectsOf(setVariants())).toEqual([]);
    expect(await effectsOf(setVariants(PAYLOAD))).toEqual([seen('a', 'off', 'off')]);
    await flags.apply([setVariants(PAYLOAD)]);
    const input = [{ name: 'blue', payload: { ...PAYLOAD, value: 'y' } }];
    expect(await effectsOf({ op: 'setVariants', ref: at('a'), input })).toEqual([]);
  });

  it('count a flag that moves once for each project', async () => {
    await add('a');
    await flags.createProject({ id: 'shop', name: 'Shop' });
    const { effects } = await flags.plan([{ op: 'moveFlag', ref: at('a'), input: { project: 'shop' } }]);
    expect(effects).toEqual([
      { project: 'default', ...seen('a', 'on', 'absent') },
      { project: 'shop', ...seen('a', 'absent', 'on') },
    ]);
  });

  it('see changes of another process without a poll', async () => {
    const storage = memoryStorage();
    const open = () => createFlags({ storage, pollInterval: 0, onProblem: () => undefined });
    const [one, other] = [await open(), await open()];
    await one.createFlag(DEFAULT, { name: 'base' });
    await one.configureEnvironment(at('base'), { enabled: true, strategies: [EVERYBODY] });
    await other.createFlag(DEFAULT, { name: 'child' });
    await other.configureEnvironment(at('child'), { enabled: true, strategies: [EVERYBODY] });
    await other.addDependency(at('child'), { flag: 'base' });
    const { effects } = await one.plan([{ op: 'disable', ref: at('base') }]);
    expect(effects.map(({ flag }) => flag)).toEqual(['base', 'child']);
    await Promise.all([one.close(), other.close()]);
  });

  it('of an undo are its own direction', async () => {
    await add('a', { enabled: false });
    const { id } = await flags.apply([{ op: 'enable', ref: at('a') }]);
    const { documents, effects } = await flags.planUndo(id ?? '');
    expect(effects).toEqual([{ ...DEFAULT, ...seen('a', 'on', 'off') }]);
    expect(documents.flatMap(({ events }) => events.map(({ type }) => type))).toEqual(['environment-disabled']);
    expect(flags.isEnabled('a')).toBe(true);
  });

  it('of an import are in its dry run', async () => {
    await add('a');
    const document = { version: 1, flags: [{ name: 'a', archived: true }] } as const;
    const { effects } = await flags.importDefinitions(document, { dryRun: true });
    expect(effects).toEqual([{ ...DEFAULT, ...seen('a', 'on', 'absent') }]);
    expect(await flags.importDefinitions(document)).not.toHaveProperty('effects');
  });
});

it('plans a child of 100 large parents without a long turn', async () => {
  const values = Array.from({ length: 9_500 }, (_, n) => `${n}`.padEnd(100, 'x'));
  const constraints = [{ contextName: 'userId', operator: 'IN', values }] as const;
  await add('child');
  for (let n = 0; n < 100; n++) {
    await flags.createFlag(DEFAULT, { name: `parent-${n}` });
    const strategies = [{ ...EVERYBODY, constraints }];
    await flags.configureEnvironment(at(`parent-${n}`), { enabled: true, strategies });
    await flags.addDependency(at('child'), { flag: `parent-${n}` });
  }
  const change: Change = { op: 'addStrategy', ref: at('child'), input: EVERYBODY };
  const turn = await longestTurn(async () => {
    await flags.plan([change]);
    // The last turn counts too.
    await new Promise(setImmediate);
  });
  expect(turn).toBeLessThan(100);
});

it('plans a segment that 10,000 flags use, and a parent of 10,000 children, without a long turn', async () => {
  const { id } = await flags.createSegment({
    name: 'EU',
    constraints: [{ contextName: 'country', operator: 'IN', values: Array.from({ length: 1_000 }, (_, n) => `c${n}`) }],
  });
  await add('base');
  const names = Array.from({ length: 10_000 }, (_, n) => `flag-${n}`);
  for (let first = 0; first < names.length; first += 1_000) {
    await flags.importDefinitions({
      version: 1,
      flags: names.slice(first, first + 1_000).map((name) => ({
        name,
        dependencies: [{ flag: 'base' }],
        environments: { production: { enabled: true, strategies: [{ ...EVERYBODY, segments: ['EU'] }] } },
      })),
    });
  }
  const changes: readonly Change[] = [
    { op: 'updateSegment', ref: { segment: id }, input: { constraints: [] } },
    { op: 'disable', ref: at('base') },
  ];
  for (const change of changes) {
    const started = processorTime();
    let count = 0;
    const turn = await longestTurn(async () => {
      count = (await flags.plan([change])).effects.length;
      await new Promise(setImmediate);
    });
    expect(count).toBeGreaterThanOrEqual(10_000);
    expect(processorTime() - started).toBeLessThan(3_000);
    expect(turn).toBeLessThan(100);
  }
});
