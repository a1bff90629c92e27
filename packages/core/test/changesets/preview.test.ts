import { extent } from '../../../../test/extent.js';
import { hasShortTurns, isWithin, processorTime } from '../../../../test/processor-time.js';
import {
  type Change,
  type EvaluationContext,
  type FlagEffect,
  type Flags,
  LIMITS,
  memoryStorage,
  openFlags,
} from '../../src/index.js';
import { dataVersion } from '../../src/router.operations.js';

describe('a preview', () => {
  const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };
  const USERS: readonly EvaluationContext[] = Array.from({ length: 200 }, (_, n) => ({ userId: `user-${n}` }));
  const ROLLOUT = { name: 'flexibleRollout', parameters: { rollout: '25', groupId: 'checkout', stickiness: 'userId' } };

  let flags: Flags<string>;
  let problems: unknown[];
  let strategy: string;

  beforeEach(async () => {
    problems = [];
    flags = await openFlags<string>({ storage: memoryStorage(), onProblem: (problem) => problems.push(problem) });
    await flags.createFlag(PRODUCTION, { name: 'checkout' });
    ({ id: strategy } = await flags.addStrategy(PRODUCTION, ROLLOUT));
    await flags.enable(PRODUCTION);
  });
  afterEach(() => flags.close());

  function preview(changes: readonly Change<string>[], contexts = USERS) {
    return flags.preview(changes, { environment: 'production', contexts });
  }

  const rollout = (percentage: string): Change<string> => ({
    op: 'updateStrategy',
    ref: { ...PRODUCTION, strategy },
    input: { parameters: { ...ROLLOUT.parameters, rollout: percentage } },
  });

  it('returns the evaluation before and after the changes', async () => {
    const changes = [rollout('60')];
    const answers = () => USERS.map((context) => flags.isEnabled('checkout', context));
    const before = answers();
    const { flags: previewed } = await preview(changes);
    await flags.apply(changes);
    const after = answers();

    expect(previewed).toHaveLength(1);
    const [flag] = previewed;
    expect(flag).toMatchObject({ project: 'default', flag: 'checkout' });
    expect(flag?.contexts.map((one) => one.before.enabled)).toEqual(before);
    expect(flag?.contexts.map((one) => one.after.enabled)).toEqual(after);
    expect(flag?.before).toEqual({ enabled: before.filter(Boolean).length });
    expect(flag?.after).toEqual({ enabled: after.filter(Boolean).length });
    expect(flag?.contexts.map((one) => one.after.reason)).toEqual(
      USERS.map((context) => flags.explain('checkout', context).reason),
    );
  });

  it('returns buckets that tell the included contexts for any percentage, so that a slider needs one request', async () => {
    const { flags: previewed } = await preview([rollout('10')]);
    const buckets = previewed[0]?.contexts.map((one) => one.buckets) ?? [];
    expect(buckets.every((one) => one.length === 1 && one[0]?.strategy === strategy && one[0].rollout === 10)).toBe(
      true,
    );
    for (const percentage of [1, 33, 66, 100]) {
      await flags.apply([rollout(`${percentage}`)]);
      expect(buckets.map(([one]) => (one?.bucket ?? 101) <= percentage)).toEqual(
        USERS.map((context) => flags.isEnabled('checkout', context)),
      );
    }
  });

  it('returns buckets of strategies that are not reached, and null without an id', async () => {
    const never = { contextName: 'country', operator: 'IN', values: ['DE'] } as const;
    const more: Change<string> = {
      op: 'addStrategy',
      ref: PRODUCTION,
      input: { ...ROLLOUT, constraints: [never], parameters: { ...ROLLOUT.parameters, rollout: '50' } },
    };
    const { flags: previewed } = await preview([{ op: 'disable', ref: PRODUCTION }, more], [{ userId: '7' }, {}]);
    const [known, unknown] = previewed[0]?.contexts ?? [];
    expect(known?.buckets.map(({ rollout }) => rollout)).toEqual([25, 50]);
    expect(known?.buckets.map(({ bucket }) => bucket)).toEqual([expect.any(Number), expect.any(Number)]);
    expect(unknown?.buckets.map(({ bucket }) => bucket)).toEqual([null, null]);
    expect(known?.after.reason).toBe('disabled');
  });

  it('covers exactly the flags that depend on a changed one', async () => {
    await flags.createFlag(PRODUCTION, { name: 'child' });
    await flags.createFlag(PRODUCTION, { name: 'stranger' });
    const child = { ...PRODUCTION, flag: 'child' };
    await flags.addStrategy(child, { name: 'default' });
    await flags.enable(child);
    await flags.addDependency(child, { flag: 'checkout' });
    const { flags: previewed } = await preview([rollout('100')]);
    expect(previewed.map(({ flag, after }) => [flag, after.enabled])).toEqual([
      ['checkout', USERS.length],
      ['child', USERS.length],
    ]);
    expect(previewed[1]?.before.enabled).toBe(previewed[0]?.before.enabled);
  });

  it('covers flags that use a changed segment, and their children', async () => {
    const constraint = (values: string[]) => ({ contextName: 'userId', operator: 'IN', values }) as const;
    const segment = await flags.segments.create({ name: 'beta', constraints: [constraint(['user-1'])] });
    const beta = { ...PRODUCTION, flag: 'beta' };
    await flags.createFlag(PRODUCTION, { name: 'beta' });
    await flags.addStrategy(beta, { name: 'default', segments: [segment.id] });
    await flags.enable(beta);
    await flags.createFlag(PRODUCTION, { name: 'child' });
    await flags.addDependency({ ...PRODUCTION, flag: 'child' }, { flag: 'beta' });
    const change: Change<string> = {
      op: 'updateSegment',
      ref: { segment: segment.id },
      input: { constraints: [constraint(['user-1', 'user-2', 'user-3'])] },
    };
    const { flags: previewed } = await preview([change]);
    expect(previewed.map(({ flag, before, after }) => [flag, before.enabled, after.enabled])).toEqual([
      ['beta', 1, 3],
      ['child', 0, 0],
    ]);
  });

  it('covers created and deleted flags, and a whole set of changes', async () => {
    const created = { ...PRODUCTION, flag: 'new' };
    const { flags: previewed } = await preview([
      { op: 'createFlag', ref: { project: 'default' }, input: { name: 'new' } },
      { op: 'addStrategy', ref: created, input: { name: 'default' } },
      { op: 'enable', ref: created },
      { op: 'setVariants', ref: created, input: [{ name: 'blue' }] },
      { op: 'archiveFlag', ref: PRODUCTION },
    ]);
    const byName = new Map(previewed.map((one) => [one.flag, one.contexts[0]]));
    expect(byName.get('new')).toMatchObject({
      before: { enabled: false, reason: 'unknown_flag' },
      after: { enabled: true, reason: 'strategy', variant: { name: 'blue' } },
    });
    expect(byName.get('checkout')).toMatchObject({ after: { enabled: false, reason: 'unknown_flag' }, buckets: [] });
  });

  it('names the project of archived flags, and leaves out flags that the set creates and deletes', async () => {
    const old = { project: 'default', flag: 'old' };
    await flags.createFlag(old, { name: 'old' });
    await flags.archiveFlag(old);
    const passing = { project: 'default', flag: 'passing' };
    const { flags: previewed } = await preview([
      { op: 'deleteFlag', ref: { flag: 'old' } },
      { op: 'createFlag', ref: { project: 'default' }, input: { name: 'passing' } },
      { op: 'archiveFlag', ref: passing },
      { op: 'deleteFlag', ref: passing },
    ]);
    expect(previewed.map(({ project, flag }) => [project, flag])).toEqual([['default', 'old']]);
  });

  it('does not show random results as changes', async () => {
    const random = { ...ROLLOUT, parameters: { ...ROLLOUT.parameters, stickiness: 'random', rollout: '50' } };
    await flags.updateStrategy({ ...PRODUCTION, strategy }, random);
    const { flags: previewed } = await preview([{ op: 'updateFlag', ref: PRODUCTION, input: { description: 'new' } }]);
    const [flag] = previewed;
    expect(flag?.contexts.map((one) => one.after)).toEqual(flag?.contexts.map((one) => one.before));
    expect(flag?.before.enabled).toBeGreaterThan(USERS.length / 4);
    expect(flag?.before.enabled).toBeLessThan((USERS.length * 3) / 4);
  });

  it('has no effect: on documents, events, counts, evaluations and problems', async () => {
    const { total } = await flags.events.list();
    const version = await dataVersion(flags);
    await preview([
      { op: 'addStrategy', ref: PRODUCTION, input: { name: 'unknown-strategy' } },
      { op: 'createFlag', ref: { project: 'default' }, input: { name: 'draft' } },
    ]);
    expect((await flags.events.list()).total).toBe(total);
    expect(await dataVersion(flags)).toBe(version);
    expect(problems).toEqual([]);
    expect(flags.explain('draft').reason).toBe('unknown_flag');
    expect(flags.isEnabled('draft', {}, { fallback: true })).toBe(true);
  });

  it('refuses invalid previews', async () => {
    const query = { environment: 'production', contexts: USERS };
    const enable: Change<string> = { op: 'enable', ref: PRODUCTION };
    const refusal = async (promise: Promise<unknown>) =>
      promise.then(
        () => 'none',
        ({ code, details }) => [code, details[0]?.path],
      );
    expect(await refusal(flags.preview([enable], { ...query, environment: 'moon' }))).toEqual([
      'environment_not_found',
      undefined,
    ]);
    const many = Array.from({ length: LIMITS.previewContexts + 1 }, () => ({}));
    expect(await refusal(flags.preview([enable], { ...query, contexts: many }))).toEqual([
      'invalid_input',
      '/contexts',
    ]);
    expect(await refusal(flags.preview([enable], { ...query, contexts: [7] as never }))).toEqual([
      'invalid_input',
      '/contexts/0',
    ]);
    expect(await refusal(flags.preview([{ ...enable, op: 'explode' } as never], query))).toEqual([
      'invalid_input',
      '/changes/0/op',
    ]);
    expect(await refusal(flags.preview([{ ...enable, ref: { ...PRODUCTION, flag: 'none' } }], query))).toEqual([
      'flag_not_found',
      '/changes/0',
    ]);
  });

  it('accepts fewer contexts where a segment concerns many flags', async () => {
    const { id } = await flags.segments.create({ name: 'all', constraints: [] });
    const names = Array.from({ length: 300 }, (_, n) => `flag-${n}`);
    for (let first = 0; first < names.length; first += 100) {
      await flags.apply(
        names.slice(first, first + 100).flatMap((name): Change<string>[] => [
          { op: 'createFlag', ref: { project: 'default' }, input: { name } },
          { op: 'addStrategy', ref: { ...PRODUCTION, flag: name }, input: { name: 'default', segments: [id] } },
        ]),
      );
    }
    const change: Change<string> = { op: 'updateSegment', ref: { segment: id }, input: { description: 'Everybody' } };
    const contexts = Array.from({ length: 1000 }, () => ({}));
    await expect(preview([change], contexts)).rejects.toMatchObject({
      code: 'invalid_input',
      details: [{ path: '/contexts', message: 'must have at most 666 items, because the changes concern 300 flags' }],
    });
    expect((await preview([change], contexts.slice(0, 20))).flags).toHaveLength(300);
  });
});

describe('effects', () => {
  const DEFAULT = { project: 'default' };
  const at = (flag: string, environment = 'production') => ({ ...DEFAULT, flag, environment });
  const EVERYBODY = { name: 'default' };
  const PAYLOAD = { type: 'string', value: 'x' } as const;

  let flags: Flags<string>;

  beforeEach(async () => {
    flags = await openFlags<string>({ storage: memoryStorage(), onProblem: () => undefined });
  });
  afterEach(() => flags.close());

  /** Creates a flag that is on, or off, for everybody in production. */
  async function add(name: string, { enabled = true } = {}): Promise<void> {
    await flags.createFlag(DEFAULT, { name });
    await flags.configureEnvironment(at(name), { enabled, strategies: [EVERYBODY] });
  }

  async function effectsOf(...changes: readonly Change<string>[]): Promise<readonly Omit<FlagEffect, 'project'>[]> {
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

    it('are in every environment of a stored flag, even if this node does not list it', async () => {
      const storage = memoryStorage();
      const elsewhere = await openFlags<string>({ storage, environments: [{ name: 'live' }, { name: 'qa' }] });
      await elsewhere.createFlag(DEFAULT, { name: 'old' });
      for (const environment of ['live', 'qa']) await elsewhere.addStrategy(at('old', environment), EVERYBODY);
      const here = await openFlags<string>({ storage, environments: [{ name: 'production' }] });
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
      const { id } = await flags.segments.create({ name: 'EU', constraints: [] });
      const same = await flags.segments.create({ name: 'Europe', constraints: [] });
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
      const { id } = await flags.segments.create({ name: 'EU', constraints: [] });
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

    it('show whether the variants of a flag that is off have payloads', async () => {
      await add('a', { enabled: false });
      const setVariants = (payload?: typeof PAYLOAD): Change<string> => {
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
      const open = () => openFlags<string>({ storage, pollInterval: 0, onProblem: () => undefined });
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

    it('belong to the direction of an undo', async () => {
      await add('a', { enabled: false });
      const { id } = await flags.apply([{ op: 'enable', ref: at('a') }]);
      const { documents, effects } = await flags.history.planUndo({ changeSet: id ?? '' });
      expect(effects).toEqual([{ ...DEFAULT, ...seen('a', 'on', 'off') }]);
      expect(documents.flatMap(({ events }) => events.map(({ type }) => type))).toEqual(['environment-disabled']);
      expect(flags.isEnabled('a')).toBe(true);
    });

    it('count the contexts of an undo as those of the change, in reverse', async () => {
      await add('a', { enabled: false });
      const query = {
        environment: 'production',
        contexts: Array.from({ length: 50 }, (_, id) => ({ userId: `${id}` })),
      };
      const enable: Change = { op: 'enable', ref: at('a') };
      const forward = (await flags.preview([enable], query)).flags.map(({ flag, before, after }) => ({
        flag,
        before,
        after,
      }));
      const { id } = await flags.apply([enable]);
      const back = (await flags.history.previewUndo({ changeSet: id ?? '' }, query)).flags;
      expect(forward).toEqual([{ flag: 'a', before: { enabled: 0 }, after: { enabled: 50 } }]);
      expect(back.map(({ flag, before, after }) => ({ flag, before: after, after: before }))).toEqual(forward);
      expect(flags.isEnabled('a')).toBe(true);
    });

    it('are part of the dry run of an import', async () => {
      await add('a');
      const document = { version: 1, flags: [{ name: 'a', archived: true }] } as const;
      const { effects } = await flags.definitions.import(document, { dryRun: true });
      expect(effects).toEqual([{ ...DEFAULT, ...seen('a', 'on', 'absent') }]);
      expect(await flags.definitions.import(document)).not.toHaveProperty('effects');
    });
  });

  const PARENTS = extent({ short: 20, full: 100 });

  const USERS = extent({ short: 2_000, full: 10_000 });

  it(`plans a child of ${PARENTS} large parents without a long turn`, async () => {
    const values = Array.from({ length: 9_500 }, (_, n) => `${n}`.padEnd(100, 'x'));
    const constraints = [{ contextName: 'userId', operator: 'IN', values }] as const;
    await add('child');
    for (let n = 0; n < PARENTS; n++) {
      await flags.createFlag(DEFAULT, { name: `parent-${n}` });
      const strategies = [{ ...EVERYBODY, constraints }];
      await flags.configureEnvironment(at(`parent-${n}`), { enabled: true, strategies });
      await flags.addDependency(at('child'), { flag: `parent-${n}` });
    }
    const change: Change<string> = { op: 'addStrategy', ref: at('child'), input: EVERYBODY };
    expect(await hasShortTurns(100, () => flags.plan([change]))).toBe(true);
  });

  it(`plans a segment that ${USERS} flags use, and a parent of ${USERS} children, without a long turn`, async () => {
    const { id } = await flags.segments.create({
      name: 'EU',
      constraints: [
        { contextName: 'country', operator: 'IN', values: Array.from({ length: 1_000 }, (_, n) => `c${n}`) },
      ],
    });
    await add('base');
    const names = Array.from({ length: USERS }, (_, n) => `flag-${n}`);
    for (let first = 0; first < names.length; first += 1_000) {
      await flags.definitions.import({
        version: 1,
        flags: names.slice(first, first + 1_000).map((name) => ({
          name,
          dependencies: [{ flag: 'base' }],
          environments: { production: { enabled: true, strategies: [{ ...EVERYBODY, segments: ['EU'] }] } },
        })),
      });
    }
    const changes: readonly Change<string>[] = [
      { op: 'updateSegment', ref: { segment: id }, input: { constraints: [] } },
      { op: 'disable', ref: at('base') },
    ];
    for (const change of changes) {
      const planned = { effects: 0, time: Number.POSITIVE_INFINITY };
      const plan = async () => {
        const start = processorTime();
        planned.effects = (await flags.plan([change])).effects.length;
        planned.time = Math.min(planned.time, processorTime() - start);
      };
      expect(await hasShortTurns(100, plan)).toBe(true);
      expect(planned.effects).toBeGreaterThanOrEqual(USERS);
      expect(planned.time < 3_000 || (await isWithin(3_000, plan))).toBe(true);
    }
  });
});
