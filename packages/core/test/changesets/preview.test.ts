import { type Change, createFlags, type EvaluationContext, type Flags, LIMITS, memoryStorage } from '@flags/core';

const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };
const USERS: readonly EvaluationContext[] = Array.from({ length: 200 }, (_, n) => ({ userId: `user-${n}` }));
const ROLLOUT = { name: 'flexibleRollout', parameters: { rollout: '25', groupId: 'checkout', stickiness: 'userId' } };

let flags: Flags;
let problems: unknown[];
let strategy: string;

beforeEach(async () => {
  problems = [];
  flags = await createFlags({ storage: memoryStorage(), onProblem: (problem) => problems.push(problem) });
  await flags.createFlag(PRODUCTION, { name: 'checkout' });
  ({ id: strategy } = await flags.addStrategy(PRODUCTION, ROLLOUT));
  await flags.enable(PRODUCTION);
});

afterEach(() => flags.close());

function preview(changes: readonly Change[], contexts = USERS) {
  return flags.preview(changes, { environment: 'production', contexts });
}

const rollout = (percentage: string): Change => ({
  op: 'updateStrategy',
  ref: { ...PRODUCTION, strategy },
  input: { parameters: { ...ROLLOUT.parameters, rollout: percentage } },
});

describe('a preview', () => {
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

  it('gives buckets that tell who is in at any percentage, so that a slider needs no second request', async () => {
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

  it('gives buckets of strategies that are not reached, and null without an id', async () => {
    const never = { contextName: 'country', operator: 'IN', values: ['DE'] } as const;
    const more: Change = {
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
    const segment = await flags.createSegment({ name: 'beta', constraints: [constraint(['user-1'])] });
    const beta = { ...PRODUCTION, flag: 'beta' };
    await flags.createFlag(PRODUCTION, { name: 'beta' });
    await flags.addStrategy(beta, { name: 'default', segments: [segment.id] });
    await flags.enable(beta);
    await flags.createFlag(PRODUCTION, { name: 'child' });
    await flags.addDependency({ ...PRODUCTION, flag: 'child' }, { flag: 'beta' });
    const change: Change = {
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

  it('covers flags that come and go, and a whole set of changes', async () => {
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

  it('lets chance alone change nothing', async () => {
    const random = { ...ROLLOUT, parameters: { ...ROLLOUT.parameters, stickiness: 'random', rollout: '50' } };
    await flags.updateStrategy({ ...PRODUCTION, strategy }, random);
    const { flags: previewed } = await preview([{ op: 'updateFlag', ref: PRODUCTION, input: { description: 'new' } }]);
    const [flag] = previewed;
    expect(flag?.contexts.map((one) => one.after)).toEqual(flag?.contexts.map((one) => one.before));
    expect(flag?.before.enabled).toBeGreaterThan(USERS.length / 4);
    expect(flag?.before.enabled).toBeLessThan((USERS.length * 3) / 4);
  });

  it('changes nothing: no document, event, count or evaluation, and reports no problem', async () => {
    const { total } = await flags.listEvents();
    const version = await flags.dataVersion();
    await preview([
      { op: 'addStrategy', ref: PRODUCTION, input: { name: 'unknown-strategy' } },
      { op: 'createFlag', ref: { project: 'default' }, input: { name: 'draft' } },
    ]);
    expect((await flags.listEvents()).total).toBe(total);
    expect(await flags.dataVersion()).toBe(version);
    expect(problems).toEqual([]);
    expect(flags.explain('draft').reason).toBe('unknown_flag');
    expect(flags.isEnabled('draft', {}, { fallback: true })).toBe(true);
  });

  it('refuses invalid previews', async () => {
    const query = { environment: 'production', contexts: USERS };
    const enable: Change = { op: 'enable', ref: PRODUCTION };
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

  it('asks for fewer contexts where a segment concerns many flags', async () => {
    const { id } = await flags.createSegment({ name: 'all', constraints: [] });
    const names = Array.from({ length: 300 }, (_, n) => `flag-${n}`);
    for (let first = 0; first < names.length; first += 100) {
      await flags.apply(
        names.slice(first, first + 100).flatMap((name): Change[] => [
          { op: 'createFlag', ref: { project: 'default' }, input: { name } },
          { op: 'addStrategy', ref: { ...PRODUCTION, flag: name }, input: { name: 'default', segments: [id] } },
        ]),
      );
    }
    const change: Change = { op: 'updateSegment', ref: { segment: id }, input: { description: 'Everybody' } };
    const contexts = Array.from({ length: 1000 }, () => ({}));
    await expect(preview([change], contexts)).rejects.toMatchObject({
      code: 'invalid_input',
      details: [{ path: '/contexts', message: 'must have at most 666 items, because the changes concern 300 flags' }],
    });
    expect((await preview([change], contexts.slice(0, 20))).flags).toHaveLength(300);
  });
});
