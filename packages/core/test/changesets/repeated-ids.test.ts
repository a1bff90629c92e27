import { randomUUID } from 'node:crypto';
import { isFull } from '../../../../test/extent.js';
import { type ChangeContext, type Flags, openFlags } from '../../src/index.js';
import { faultyStorage } from '../../src/testing.js';
import { everythingIn } from '../everything.js';
import type { MethodName } from '../method-names.js';
import { KINDS, onEveryStorage } from '../on-every-storage.js';
import { CHILD, furnish, OLD, SHOP, STRATEGY } from '../operations.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { expectRefusal, refusalOf } from '../refusal.js';
import { SILENT } from '../replica/silent.js';
import { STORAGES } from '../storage-kinds.js';

type Call = (flags: Flags<string>, context: ChangeContext) => Promise<unknown>;

/** What takes no id: reads, evaluation, reports of usage, consumers, and changes of tokens, whose secrets are shown once. */
type WithoutId =
  | `${'' | `${string}.`}${'list' | 'get' | 'search' | 'locate' | 'count' | 'export' | 'plan' | 'verify' | 'is' | 'on'}${string}`
  | `${'tokens' | 'consumers' | 'applications' | 'changeRequests' | 'approvalPolicy'}.${string}`
  | 'registerApplication'
  | 'reportMetrics'
  | 'reportMetricsInBulk'
  | 'consume'
  | 'runDue'
  | 'preview'
  | 'history.previewUndo'
  | 'history.asOf'
  | 'subscribe'
  | 'dataVersion'
  | 'forContext'
  | 'explain'
  | 'evaluateAll'
  | 'evaluator'
  | 'recentContexts'
  | 'configuration'
  | 'projectOf'
  | 'status'
  | 'refresh'
  | 'settings'
  | 'as'
  | 'closing'
  | 'close';

/** The strategies of a flag in a furnished store, by id: `id-4` rolls out, `id-5` is paused, and `id-6` does not. */
const GRADUAL = (strategy: string) => ({ ...DEFAULT, flag: 'gradual', environment: 'production', strategy });

/** Every change: one that is added does not compile until it is here. All have something to do in a furnished store. */
const CHANGES: Readonly<Record<Exclude<MethodName, WithoutId>, Call>> = {
  createProject: (flags, context) => flags.createProject({ id: 'new', name: 'New' }, context),
  updateProject: (flags, context) => flags.updateProject(DEFAULT, { name: 'Changed' }, context),
  deleteProject: (flags, context) => flags.deleteProject(SHOP, context),
  addMember: (flags, context) => flags.addMember(DEFAULT, { userId: 2, roleId: 4 }, context),
  changeMemberRole: (flags, context) => flags.changeMemberRole(DEFAULT, { userId: 1, roleId: 4 }, context),
  removeMember: (flags, context) => flags.removeMember(DEFAULT, { userId: 1, roleId: 5 }, context),
  createFlag: (flags, context) => flags.createFlag(DEFAULT, { name: 'new', labels: ['a'] }, context),
  updateFlag: (flags, context) => flags.updateFlag(CHECKOUT, { description: 'changed', stale: true }, context),
  changeLabels: (flags, context) => flags.changeLabels(CHECKOUT, { add: ['team-shop'] }, context),
  cloneFlag: (flags, context) => flags.cloneFlag(CHECKOUT, { name: 'copy' }, context),
  archiveFlag: (flags, context) => flags.archiveFlag(CHECKOUT, context),
  reviveFlag: (flags, context) => flags.reviveFlag({ flag: 'old' }, context),
  deleteFlag: (flags, context) => flags.deleteFlag({ flag: 'old' }, context),
  moveFlag: (flags, context) => flags.moveFlag({ ...DEFAULT, flag: 'movable' }, SHOP, context),
  setVariants: (flags, context) => flags.setVariants(CHECKOUT, [{ name: 'blue' }, { name: 'red' }], context),
  addDependency: (flags, context) => flags.addDependency(CHECKOUT, { flag: 'parent' }, context),
  removeDependency: (flags, context) => flags.removeDependency(CHILD, { flag: 'parent' }, context),
  removeDependencies: (flags, context) => flags.removeDependencies(CHILD, context),
  addStrategy: (flags, context) => flags.addStrategy(DEVELOPMENT, { name: 'default', segments: [1] }, context),
  updateStrategy: (flags, context) => flags.updateStrategy(STRATEGY, { name: 'default', title: 'new' }, context),
  removeStrategy: (flags, context) => flags.removeStrategy(STRATEGY, context),
  orderStrategies: (flags, context) => flags.orderStrategies(DEVELOPMENT, [{ id: 'id-1', sortOrder: 1 }], context),
  'rollouts.start': (flags, context) => flags.rollouts.start(GRADUAL('id-6'), { steps: [{ percentage: 7 }] }, context),
  'rollouts.pause': (flags, context) => flags.rollouts.pause(GRADUAL('id-4'), context),
  'rollouts.resume': (flags, context) => flags.rollouts.resume(GRADUAL('id-5'), context),
  'rollouts.advance': (flags, context) => flags.rollouts.advance(GRADUAL('id-4'), {}, context),
  'rollouts.stop': (flags, context) => flags.rollouts.stop(GRADUAL('id-4'), { rollback: true }, context),
  enable: (flags, context) => flags.enable(PRODUCTION, context),
  disable: (flags, context) => flags.disable(DEVELOPMENT, context),
  configureEnvironment: (flags, context) =>
    flags.configureEnvironment(
      DEVELOPMENT,
      { enabled: true, strategies: [{ name: 'a' }, { id: 'id-1', name: 'b' }, { name: 'c' }] },
      context,
    ),
  'segments.create': (flags, context) => flags.segments.create({ name: 'new', constraints: [] }, context),
  'segments.update': (flags, context) => flags.segments.update({ segment: 1 }, { name: 'renamed' }, context),
  'segments.delete': (flags, context) => flags.segments.delete({ segment: 2 }, context),
  apply: (flags, { id, actor, reason }) =>
    flags.apply(
      [
        { op: 'createFlag', ref: DEFAULT, input: { name: 'new' } },
        { op: 'addStrategy', ref: { ...DEFAULT, flag: 'new', environment: 'production' }, input: { name: 'a' } },
        { op: 'deleteSegment', ref: { segment: 2 } },
      ],
      defined({ id, actor, reason }),
    ),
  'history.undo': async (flags, { id, actor, reason }) => {
    const { items } = await flags.history.list({ ...DEFAULT, flag: 'movable' });
    return flags.history.undo({ changeSet: `${items.at(-1)?.id}` }, defined({ id, actor, reason }));
  },
  'definitions.import': (flags, { id, actor, reason }) =>
    flags.definitions.import(
      {
        version: 1,
        projects: [{ id: 'tools' }],
        segments: [{ name: 'staff' }],
        flags: [
          { name: 'checkout', description: 'imported', environments: { production: { strategies: [{ name: 'x' }] } } },
          { name: 'drill', project: 'tools' },
        ],
      },
      defined({ id, actor, reason }),
    ),
};

/** They create, change and delete every kind of document, and read the log. */
const SAMPLE = ['deleteFlag', 'apply', 'history.undo', 'definitions.import'];

/** The short form repeats every change in memory, and on databases a sample. */
const isThorough = isFull || STORAGES[0]?.name === 'memory';
const NAMED = Object.entries(CHANGES).filter(([name]) => isThorough || SAMPLE.includes(name));

/** Changes after which most results could not be read from the present state any more. Some are refused. */
const LATER: readonly Call[] = [
  (flags) => flags.addStrategy(DEVELOPMENT, { name: 'later' }, {}),
  (flags) => flags.setVariants(CHECKOUT, [{ name: 'later' }], {}),
  (flags) => flags.updateFlag(CHECKOUT, { description: 'later' }),
  (flags) => flags.removeDependencies(CHECKOUT),
  (flags) => flags.archiveFlag(CHECKOUT),
  (flags) => flags.deleteFlag({ flag: 'checkout' }),
  (flags) => flags.archiveFlag({ ...DEFAULT, flag: 'new' }),
  (flags) => flags.deleteFlag({ flag: 'new' }),
  (flags) => flags.createFlag(DEFAULT, { name: 'old' }),
  (flags) => flags.moveFlag({ ...SHOP, flag: 'movable' }, DEFAULT),
  (flags) => flags.segments.delete({ segment: 3 }),
  (flags) => flags.segments.update({ segment: 1 }, { name: 'later' }),
  (flags) => flags.updateProject(DEFAULT, { name: 'Later' }),
  (flags) => flags.deleteProject({ project: 'new' }),
];

function defined<T extends object>(members: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

async function settle(calls: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const call of calls) await call().catch(() => undefined);
}

async function furnishMore(flags: Flags): Promise<void> {
  await furnish(flags);
  await flags.createFlag(DEFAULT, { name: 'movable' });
  const { strategy: _id, ...gradual } = GRADUAL('');
  await flags.addStrategy(gradual, { name: 'flexibleRollout' });
  await flags.rollouts.start(GRADUAL('id-5'), { steps: [{ percentage: 5, hold: null }] });
  await flags.rollouts.pause(GRADUAL('id-5'));
}

describe('a repeated id', () => {
  onEveryStorage((_, share) => {
    /** Two nodes on one furnished storage. Their ids differ, as those of two processes do. */
    async function startNodes(): Promise<readonly [Flags, Flags]> {
      const start = await share();
      let ids = 0;
      const one = await start({ ...SILENT, newId: () => `id-${++ids}` });
      await furnishMore(one);
      const other = await start(SILENT);
      return [one, other];
    }

    const eventsOf = async (flags: Flags<string>, id: string) =>
      (await flags.events.list({ limit: 1000 })).items.filter(({ changeSet }) => changeSet === id);

    it.each(NAMED)('of %s gets the first result on every node, whatever has changed since', async (_name, call) => {
      const [one, other] = await startNodes();
      const id = randomUUID();
      const context = { actor: 'ada', reason: 'Why' };
      const first = await call(one, { ...context, id });
      const events = await eventsOf(one, id);
      expect(events.length).toBeGreaterThan(0);
      for (const event of events) expect(event).toMatchObject({ actor: 'ada', reason: 'Why' });
      const after = await everythingIn(one);
      for (const flags of [other, one]) {
        expect(await call(flags, { ...context, id: id.toUpperCase(), reason: 'Again' })).toEqual(first);
      }
      expect(await everythingIn(one)).toEqual(after);

      await settle(LATER.map((later) => () => later(one, {})));
      const later = await everythingIn(one);
      expect(await call(other, { ...context, id })).toEqual(first);
      expect(await everythingIn(one)).toEqual(later);
    });

    it.each(NAMED)('of %s is taken for another actor and for other changes', async (_name, call) => {
      const [one, other] = await startNodes();
      const id = randomUUID();
      await call(one, { actor: 'ada', id });
      await expectRefusal(other, 'id_taken', () => call(other, { actor: 'grace', id }));
      const changes = [
        () => other.createFlag(DEFAULT, { name: 'another' }, { actor: 'ada', id }),
        () => other.createFlag(DEFAULT, { name: 'checkout' }, { actor: 'ada', id }),
        () => other.apply([{ op: 'createProject', input: { id: 'another', name: 'A' } }], { actor: 'ada', id }),
      ];
      for (const change of changes) await expectRefusal(other, 'id_taken', change);
    });

    it.each(NAMED)('of %s at the same time, on two nodes, is one change', async (_name, call) => {
      const [one, other] = await startNodes();
      const id = randomUUID();
      const calls = [one, other, one, other].map((flags) => call(flags, { actor: 'ada', id }));
      const [first, ...others] = await Promise.all(calls);
      for (const result of others) expect(result).toEqual(first);
      const sets = new Set((await eventsOf(one, id)).map(({ at }) => at));
      expect(sets.size).toBe(1);
    });

    it('of different changes at the same time commits exactly one of them', async () => {
      const [one, other] = await startNodes();
      for (let round = 0; round < 5; round++) {
        const id = randomUUID();
        const outcomes = await Promise.allSettled(
          [one, other, one, other].map((flags, index) =>
            flags.createFlag(DEFAULT, { name: `${round}-${index}` }, { id }),
          ),
        );
        const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []));
        expect(refusals).toEqual(['id_taken', 'id_taken', 'id_taken']);
        expect(await eventsOf(one, id)).toHaveLength(1);
      }
    });

    it('gets the first result although the expected revision has passed', async () => {
      const [one, other] = await startNodes();
      const { revision } = await one.getFlag(CHECKOUT);
      const id = randomUUID();
      const context = { id, ifRevision: revision };
      const first = await one.updateFlag(CHECKOUT, { description: 'x' }, context);
      expect(first.revision).toBeGreaterThan(revision);
      expect(await other.updateFlag(CHECKOUT, { description: 'x' }, context)).toEqual(first);
      const set = { id: randomUUID(), ifRevision: { 'flag/checkout': first.revision } };
      const applied = await one.apply([{ op: 'archiveFlag', ref: CHECKOUT }], set);
      expect(await other.apply([{ op: 'archiveFlag', ref: CHECKOUT }], set)).toEqual(applied);
      expect((await refusalOf(other.updateFlag(CHECKOUT, {}, { ifRevision: revision }))).code).toBe(
        'revision_mismatch',
      );
    });

    it('of a call that changed nothing is not remembered', async () => {
      const [one] = await startNodes();
      const id = randomUUID();
      await one.enable(DEVELOPMENT, { id });
      expect(await eventsOf(one, id)).toEqual([]);
      await one.disable(DEVELOPMENT);
      await one.enable(DEVELOPMENT, { id });
      expect(await eventsOf(one, id)).toHaveLength(1);
      await refusalOf(one.createFlag(DEFAULT, { name: 'checkout' }, { id: randomUUID() }));
    });

    it('ignores the order of members, absent ones, and the project that a flag or segment must be in', async () => {
      const [one, other] = await startNodes();
      const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
      const created = await one.createFlag(DEFAULT, { name: 'n', description: 'd', labels: ['a'] }, { id: ids[0] });
      const again = { labels: ['a'], type: undefined, description: 'd', name: 'n' } as never;
      expect(await other.createFlag(DEFAULT, again, { id: ids[0] })).toEqual(created);
      const revived = await one.reviveFlag(OLD, { id: ids[1] });
      expect(await other.reviveFlag({ flag: 'old' }, { id: ids[1] })).toEqual(revived);
      await one.segments.delete({ segment: 2, project: null }, { id: ids[2] });
      await other.segments.delete({ segment: 2 }, { id: ids[2] });
      const swapped = { name: 'n', description: 'd', labels: ['b'] };
      await expectRefusal(other, 'id_taken', () => other.createFlag(DEFAULT, swapped, { id: ids[0] }));
    });

    it('is taken if the engine has made it, and distinguishes users and tokens of the same name', async () => {
      const [one] = await startNodes();
      const { items } = await one.history.list({}, { limit: 1 });
      const made = `${items[0]?.id}`;
      await expectRefusal(one, 'id_taken', () => one.createFlag(DEFAULT, { name: 'new' }, { id: made }));
      const id = randomUUID();
      const token = { id: 'a', name: 'ada', kind: 'admin' } as const;
      await one.as(token).createFlag(DEFAULT, { name: 'new' }, { id });
      await one.as({ ...token, name: 'renamed' }).createFlag(DEFAULT, { name: 'new' }, { id });
      await expectRefusal(one, 'id_taken', () => one.as('ada').createFlag(DEFAULT, { name: 'new' }, { id }));
      const twin = { ...token, id: 'b' };
      await expectRefusal(one, 'id_taken', () => one.as(twin).createFlag(DEFAULT, { name: 'new' }, { id }));
    });

    it('is not decided, so it asks nobody for permission', async () => {
      const [one] = await startNodes();
      const id = randomUUID();
      const asked = jest.fn();
      const flags = one.as('ada', { authorize: asked });
      const first = await flags.createFlag(DEFAULT, { name: 'new' }, { id });
      expect([await flags.createFlag(DEFAULT, { name: 'new' }, { id }), asked.mock.calls.length]).toEqual([first, 1]);
    });

    it('makes the same ids of strategies wherever the call is repeated', async () => {
      const nodes = [await startNodes(), await startNodes()];
      const id = randomUUID();
      const strategies = nodes.map(([one]) => one.addStrategy(DEVELOPMENT, { name: 'default' }, { id }));
      const [first, second] = await Promise.all(strategies);
      expect(first).toEqual(second);
      expect(first?.id).toMatch(/^[0-9a-f-]{36}$/);
    });

    it.each(['no', '', 7, null, 'x'.repeat(36)])('is a UUID, not %p', async (id) => {
      const [one] = await startNodes();
      const context = { id } as ChangeContext;
      for (const call of [CHANGES.createFlag, CHANGES.apply, CHANGES['history.undo'], CHANGES['definitions.import']]) {
        const error = await expectRefusal(one, 'invalid_input', () => call(one, context));
        expect(error.details[0]?.path).toBe('/id');
      }
    });

    it('is refused with changes of tokens, whose secrets are shown once', async () => {
      const [one] = await startNodes();
      const context = { id: randomUUID() } as object;
      const ref = { token: 'secret-of-at-least-32-printable-characters' };
      const { items } = await one.tokens.list();
      const changes = [
        () => one.tokens.create({ name: 'x', kind: 'admin' }, context),
        () => one.tokens.update(ref, { expiresAt: null }, context),
        () => one.tokens.rotate({ token: `${items[0]?.id}` }, {}, context),
        () => one.tokens.delete(ref, context),
      ];
      for (const change of changes) {
        const error = await expectRefusal(one, 'invalid_input', change);
        expect(error.details[0]?.path).toBe('/id');
      }
    });

    it('is refused with an input that is not JSON', async () => {
      const [one] = await startNodes();
      const cyclic: Record<string, unknown> = { name: 'new' };
      cyclic.self = cyclic;
      let deep: unknown = 'end';
      for (let level = 0; level < 100_000; level++) deep = [deep];
      for (const input of [cyclic, { name: 'new', deep }, { name: 'new', big: 1n }]) {
        await expectRefusal(one, 'invalid_input', () => one.createFlag(DEFAULT, input as never, { id: randomUUID() }));
      }
    });
  });
});

describe.each(KINDS)('a call whose answer is lost, on $name', ({ open }) => {
  it.each(NAMED)('of %s is resolved by repeating it with its id', async (_name, call) => {
    const { storage, dispose } = await open();
    const faulty = faultyStorage(storage);
    let ids = 0;
    const flags = await openFlags({
      ...SILENT,
      storage: faulty,
      usage: { interval: 0 },
      newId: () => `id-${++ids}`,
    });
    await furnishMore(flags);
    const id = randomUUID();
    const fault = faulty.inject({ method: 'commit', nth: 1, point: 'after' });
    const error = await refusalOf(call(flags, { actor: 'ada', id }));
    expect([error.code, fault.strikes()]).toEqual(['outcome_unknown', 1]);
    await flags.refresh();
    const after = await everythingIn(flags);
    const first = await call(flags, { actor: 'ada', id });
    expect(await everythingIn(flags)).toEqual(after);

    expect(await call(flags, { actor: 'ada', id })).toEqual(first);
    await flags.close();
    await dispose();
  });

  it.each(['createFlag', 'addStrategy', 'apply'] as const)(
    'of %s is not known while its events cannot be read',
    async (name) => {
      const { storage, dispose } = await open();
      const faulty = faultyStorage(storage);
      const flags = await openFlags({ ...SILENT, storage: faulty, usage: { interval: 0 } });
      await furnish(flags);
      const id = randomUUID();
      const first = await CHANGES[name](flags, { id });
      const fault = faulty.inject({ method: 'events', nth: 2, error: new Error('away') });
      expect(await refusalOf(CHANGES[name](flags, { id }))).toMatchObject({ code: 'outcome_unknown' });
      fault.remove();
      expect(await CHANGES[name](flags, { id })).toEqual(first);
      await flags.close();
      await dispose();
    },
  );

  it('returns the first result of an import, whatever has changed since', async () => {
    const { storage, dispose } = await open();
    const flags = await openFlags({ ...SILENT, storage, usage: { interval: 0 } });
    const names = Array.from({ length: 20 }, (_, index) => ({ name: `flag-${index}` }));
    const definitions = { version: 1, flags: names } as const;
    const id = randomUUID();
    const whole = await flags.definitions.import(definitions, { id });
    expect(whole).toMatchObject({ changeSet: { id }, differences: { length: 20 } });
    await flags.archiveFlag({ ...DEFAULT, flag: 'flag-7' });
    await flags.deleteFlag({ flag: 'flag-7' });
    expect(await flags.definitions.import(definitions, { id })).toEqual(whole);
    expect((await refusalOf(flags.definitions.import(definitions, { id, prune: true }))).code).toBe('id_taken');
    expect((await refusalOf(flags.getFlag({ ...DEFAULT, flag: 'flag-7' }))).code).toBe('flag_not_found');
    await flags.close();
    await dispose();
  });
});
