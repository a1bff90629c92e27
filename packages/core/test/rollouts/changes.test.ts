import { rolloutsEndedBy } from '../../src/admin.js';
import type { Change, Definitions, Flags } from '../../src/index.js';
import { changeByFlag } from '../../src/router.operations.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { DAY, type SettableClock, settableClock } from '../settable-clock.js';
import { addGradual, type Gradual, percentage, round, STEPS, strategiesOf } from './start.js';

/** What a row changes: as data, which a plan shows beforehand, or by a call. */
type Row = (flags: Flags<string>, ref: Gradual) => Promise<readonly Change<string>[] | undefined>;

const CONTENT = { name: 'flexibleRollout', constraints: [{ contextName: 'age', operator: 'NUM_GT', value: '18' }] };

/** Returns the parameters that the strategy has, with another percentage. */
async function parametersWith(flags: Flags<string>, rollout: string) {
  return { ...(await strategiesOf(flags))[0]?.parameters, rollout };
}

async function strategyWith(flags: Flags<string>, members: object) {
  const {
    id: _id,
    rollout: _rollout,
    ...strategy
  } = (await strategiesOf(flags))[0] as never as Record<string, unknown>;
  return { ...strategy, ...members } as never;
}

/** Definitions of the flag as they are now, changed. */
async function definitionsWith(
  flags: Flags<string>,
  change: (strategies: readonly Record<string, unknown>[]) => readonly object[],
): Promise<Definitions> {
  const { flags: [flag] = [] } = await flags.definitions.export();
  const production = flag?.environments?.production;
  const strategies = change((production?.strategies ?? []) as never);
  return { version: 1, flags: [{ ...flag, environments: { production: { ...production, strategies } } }] } as never;
}

const withoutIds = (strategies: readonly Record<string, unknown>[]) => strategies.map(({ id: _id, ...rest }) => rest);

const ENDED: Readonly<Record<string, Row>> = {
  'updateStrategy, another percentage': async (flags, ref) => [
    { op: 'updateStrategy', ref, input: await strategyWith(flags, { parameters: await parametersWith(flags, '40') }) },
  ],
  'updateStrategy, another title': async (flags, ref) => [
    { op: 'updateStrategy', ref, input: await strategyWith(flags, { title: 'Other' }) },
  ],
  'updateStrategy, a segment, as the routes of 4.x': async (flags, ref) => {
    const { id } = await flags.segments.create({ name: 'beta', constraints: [] });
    return [{ op: 'updateStrategy', ref, input: await strategyWith(flags, { segments: [id] }) }];
  },
  'updateStrategy, disabled': async (flags, ref) => [
    { op: 'updateStrategy', ref, input: await strategyWith(flags, { disabled: true }) },
  ],
  'a JSON Patch of the title': async (flags, ref) => {
    const inputFor = () => ({ ...CONTENT, title: 'Patched' });
    const call = { op: 'patchStrategy', input: [] };
    await changeByFlag(flags, 'updateStrategy', { ref, call, inputFor, context: {} });
    return undefined;
  },
  removeStrategy: async (_, ref) => [
    { op: 'addStrategy', ref: PRODUCTION, input: { name: 'default' } },
    { op: 'removeStrategy', ref },
  ],
  'removeStrategy, the last one, which switches off': async (flags, ref) => {
    const others = (await strategiesOf(flags)).filter(({ id }) => id !== ref.strategy);
    for (const { id } of others) await flags.removeStrategy({ ...ref, strategy: id });
    return [{ op: 'removeStrategy', ref }];
  },
  disable: async () => [{ op: 'disable', ref: PRODUCTION }],
  'disable and enable in one set': async () => [
    { op: 'disable', ref: PRODUCTION },
    { op: 'enable', ref: PRODUCTION },
  ],
  'configureEnvironment, another percentage': async (flags) => {
    const [first, ...others] = await strategiesOf(flags);
    const changed = { ...first, parameters: await parametersWith(flags, '7') };
    const input = { enabled: true, strategies: [changed, ...others] as never };
    return [{ op: 'configureEnvironment', ref: PRODUCTION, input }];
  },
  'configureEnvironment, off': async (flags) => {
    const input = { enabled: false, strategies: (await strategiesOf(flags)) as never };
    return [{ op: 'configureEnvironment', ref: PRODUCTION, input }];
  },
  'configureEnvironment, without the strategy': async (flags) => {
    const strategies = (await strategiesOf(flags)).slice(1) as never;
    return [{ op: 'configureEnvironment', ref: PRODUCTION, input: { enabled: true, strategies } }];
  },
  'configureEnvironment, the same strategy without its id': async (flags) => {
    const strategies = withoutIds((await strategiesOf(flags)) as never) as never;
    return [{ op: 'configureEnvironment', ref: PRODUCTION, input: { enabled: true, strategies } }];
  },
  archiveFlag: async () => [{ op: 'archiveFlag', ref: CHECKOUT }],
  'archiveFlag and deleteFlag in one set': async () => [
    { op: 'archiveFlag', ref: CHECKOUT },
    { op: 'deleteFlag', ref: CHECKOUT },
  ],
  moveFlag: async (flags) => {
    await flags.createProject({ id: 'shop', name: 'Shop' });
    return [{ op: 'moveFlag', ref: CHECKOUT, input: { project: 'shop' } }];
  },
  'an import, another title': async (flags) => {
    const file = await definitionsWith(flags, (all) => all.map((one) => ({ ...one, title: 'Imported' })));
    const { differences } = await flags.definitions.import(file, { dryRun: true });
    const paths = differences.flatMap(({ parts }) => parts).map(({ path, after }) => [path, after]);
    expect(paths).toContainEqual([expect.stringMatching(/^\/environments\/production\/rollouts/), null]);
    await flags.definitions.import(file);
    return undefined;
  },
  'an import, off': async (flags) => {
    const { flags: [flag] = [] } = await flags.definitions.export();
    const production = { ...flag?.environments?.production, enabled: false };
    await flags.definitions.import({ version: 1, flags: [{ name: 'checkout', environments: { production } }] });
    return undefined;
  },
  'an import without the strategy': async (flags) => {
    await flags.definitions.import(await definitionsWith(flags, (all) => all.slice(1)));
    return undefined;
  },
  'an import with prune that lacks the flag': async (flags) => {
    await flags.definitions.import({ version: 1, projects: [{ id: 'default' }], flags: [] }, { prune: true });
    return undefined;
  },
  'the undo of its start': async (flags) => {
    const [event] = (await flags.events.list({ type: 'rollout-started' })).items;
    await flags.history.undo({ changeSet: `${event?.changeSet}` });
    return undefined;
  },
  'the undo of a step': async (flags, ref) => {
    await flags.rollouts.advance(ref);
    const [event] = (await flags.events.list({ type: 'rollout-stepped' })).items;
    const planned = await flags.history.planUndo({ changeSet: `${event?.changeSet}` });
    expect(rolloutsEndedBy(planned.documents)).toHaveLength(1);
    await flags.history.undo({ changeSet: `${event?.changeSet}` });
    return undefined;
  },
  'addStrategy of the removed one, whose id is new': async (flags, ref) => [
    { op: 'removeStrategy', ref },
    { op: 'addStrategy', ref: PRODUCTION, input: await strategyWith(flags, {}) },
  ],
};

const UNTOUCHED: Readonly<Record<string, Row>> = {
  'updateStrategy, what it is': async (flags, ref) => [
    { op: 'updateStrategy', ref, input: await strategyWith(flags, {}) },
  ],
  'updateStrategy, absent members by their defaults': async (flags, ref) => {
    const { constraints = [] } = (await strategiesOf(flags))[0] ?? {};
    const shown = constraints.map((one) => ({ ...one, values: [], inverted: false, caseInsensitive: false }));
    const input = await strategyWith(flags, { constraints: shown, segments: [], disabled: false });
    return [{ op: 'updateStrategy', ref, input }];
  },
  'updateStrategy, another sortOrder': async (flags, ref) => [
    { op: 'updateStrategy', ref, input: await strategyWith(flags, { sortOrder: 7 }) },
  ],
  'a JSON Patch of the sortOrder': async (flags, ref) => {
    const input = await strategyWith(flags, { sortOrder: 3 });
    const call = { op: 'patchStrategy', input: [] };
    await changeByFlag(flags, 'updateStrategy', { ref, call, inputFor: () => input, context: {} });
    return undefined;
  },
  orderStrategies: async (flags, ref) => {
    await flags.orderStrategies(PRODUCTION, [{ id: ref.strategy, sortOrder: 9 }]);
    return undefined;
  },
  'configureEnvironment, what was read': async (flags) => {
    const strategies = (await strategiesOf(flags)) as never;
    return [{ op: 'configureEnvironment', ref: PRODUCTION, input: { enabled: true, strategies } }];
  },
  'configureEnvironment, another order': async (flags) => {
    const strategies = (await strategiesOf(flags)).toReversed() as never;
    return [{ op: 'configureEnvironment', ref: PRODUCTION, input: { enabled: true, strategies } }];
  },
  'a save of the neighbouring strategy': async (flags, ref) => {
    const [, other] = await strategiesOf(flags);
    return [{ op: 'updateStrategy', ref: { ...ref, strategy: `${other?.id}` }, input: { name: 'default' } }];
  },
  'removal of the neighbouring strategy': async (flags, ref) => {
    const [, other] = await strategiesOf(flags);
    return [{ op: 'removeStrategy', ref: { ...ref, strategy: `${other?.id}` } }];
  },
  'enable, which it is': async () => [{ op: 'enable', ref: PRODUCTION }],
  'another environment, on and off': async () => [
    { op: 'addStrategy', ref: DEVELOPMENT, input: { name: 'default' } },
    { op: 'enable', ref: DEVELOPMENT },
    { op: 'disable', ref: DEVELOPMENT },
  ],
  'metadata, variants and parents of the flag': async (flags) => {
    await flags.createFlag(DEFAULT, { name: 'parent' });
    return [
      { op: 'updateFlag', ref: CHECKOUT, input: { description: 'changed', stale: true } },
      { op: 'setVariants', ref: CHECKOUT, input: [{ name: 'blue' }] },
      { op: 'addDependency', ref: CHECKOUT, input: { flag: 'parent' } },
    ];
  },
  'the undo of another part': async (flags) => {
    await flags.updateFlag(CHECKOUT, { description: 'other' });
    const [event] = (await flags.events.list({ limit: 1 })).items;
    await flags.history.undo({ changeSet: `${event?.changeSet}` });
    return undefined;
  },
  cloneFlag: async () => [{ op: 'cloneFlag', ref: CHECKOUT, input: { name: 'copy' } }],
  'an import of what is exported now': async (flags) => {
    const { differences } = await flags.definitions.import(await flags.definitions.export());
    expect(differences).toEqual([]);
    return undefined;
  },
  'an import in another order': async (flags) => {
    await flags.definitions.import(await definitionsWith(flags, (all) => all.toReversed()));
    return undefined;
  },
};

onEveryStorage((start) => {
  let clock: SettableClock;
  let flags: Flags<string>;
  let ref: Gradual;

  beforeEach(async () => {
    clock = settableClock();
    flags = await start({ now: clock.now, due: { run: 'elsewhere' } });
    ref = await addGradual(flags);
    await flags.updateStrategy(ref, { ...CONTENT, parameters: { rollout: '1', groupId: 'a' } } as never);
    await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: 'ada' } });
  });

  /** Runs a row, and returns the events of its sets. */
  async function change(row: Row | undefined) {
    const before = (await flags.events.list()).total;
    const changes = await row?.(flags, ref);
    const planned = changes && rolloutsEndedBy((await flags.plan(changes)).documents);
    if (changes) await flags.apply(changes);
    const { items, total } = await flags.events.list({ limit: 100 });
    return { planned, events: items.slice(0, total - before).toReversed() };
  }

  const place = { flag: 'checkout', environment: 'production' };

  it.each(Object.keys(ENDED))('%s: the rollout ends, and the event and the plan say so', async (name) => {
    await flags.rollouts.start(ref, STEPS);
    const { planned, events } = await change(ENDED[name]);
    const first = events.findIndex(({ type }) => type === 'rollout-ended');
    const { strategy } = ref;
    expect(events[first]).toMatchObject({ flag: 'checkout', data: { strategy, rollout: null, reason: 'changed' } });
    expect(events.filter(({ type }) => type === 'rollout-ended')).toHaveLength(1);
    // Before the event of the change that ends it, in the same set.
    expect(events[first + 1]?.changeSet).toBe(events[first]?.changeSet);
    if (planned) expect(planned).toEqual([{ ...place, strategy }]);
    expect((await flags.rollouts.list()).items).toEqual([]);
    clock.advance(10 * DAY);
    expect(await round(flags)).toEqual([]);
  });

  it.each(Object.keys(UNTOUCHED))('%s: the rollout goes on', async (name) => {
    await flags.rollouts.start(ref, STEPS);
    const [before] = (await flags.rollouts.list()).items;
    const { planned, events } = await change(UNTOUCHED[name]);
    expect(events.filter(({ type }) => type.startsWith('rollout-'))).toEqual([]);
    if (planned) expect(planned).toEqual([]);
    expect((await flags.rollouts.list()).items).toEqual([before]);
    clock.advance(DAY);
    expect(await round(flags)).toEqual([['running', 1]]);
  });

  it('goes on when a segment of its strategy changes, and when the routes of 4.x write the segments that it has', async () => {
    const { id } = await flags.segments.create({ name: 'members', constraints: [] });
    await flags.updateStrategy(ref, await strategyWith(flags, { segments: [id] }));
    await flags.rollouts.start(ref, STEPS);
    const [before] = (await flags.rollouts.list()).items;
    await flags.segments.update({ segment: id }, { constraints: CONTENT.constraints as never });
    await flags.updateStrategy(ref, await strategyWith(flags, { segments: [id] }));
    expect((await flags.rollouts.list()).items).toEqual([before]);
  });

  it('ends a rollout that waits or is paused as well', async () => {
    const steps = [{ percentage: 5, hold: null }, { percentage: 100 }];
    for (const prepare of [async () => undefined, async () => flags.rollouts.pause(ref)]) {
      await flags.rollouts.start(ref, { steps });
      await prepare();
      await flags.disable(PRODUCTION);
      expect((await flags.rollouts.list()).items).toEqual([]);
      await flags.enable(PRODUCTION);
    }
  });

  it('gives a copy the percentage of the moment', async () => {
    await flags.rollouts.start(ref, STEPS);
    await flags.cloneFlag(CHECKOUT, { name: 'copy' });
    const copy = await flags.getFlag({ ...DEFAULT, flag: 'copy' });
    const strategies = copy.environments.find(({ name }) => name === 'production')?.strategies;
    expect(strategies?.[0]).toMatchObject({ parameters: { rollout: '5' } });
    expect(JSON.stringify(copy)).not.toContain('guarded');
    expect((await flags.rollouts.list()).items).toHaveLength(1);
  });

  it('sets the percentage of what was read before the last step, and ends the rollout', async () => {
    await flags.rollouts.start(ref, STEPS);
    const read = await strategiesOf(flags);
    const { revision } = await flags.getFlag(CHECKOUT);
    clock.advance(DAY);
    await flags.runDue();
    const input = { enabled: true, strategies: read as never };
    await expect(flags.configureEnvironment(PRODUCTION, input, { ifRevision: revision })).rejects.toMatchObject({
      code: 'revision_mismatch',
    });
    await flags.configureEnvironment(PRODUCTION, input);
    expect(await percentage(flags)).toBe('5');
    expect((await flags.rollouts.list()).items).toEqual([]);
  });

  it('ignores a member `rollout` of inputs', async () => {
    await flags.rollouts.start(ref, STEPS);
    const [first, ...others] = await strategiesOf(flags);
    const rollout = { ...first?.rollout, step: 3, steps: [] };
    await flags.configureEnvironment(PRODUCTION, {
      enabled: true,
      strategies: [{ ...first, rollout }, ...others] as never,
    });
    await flags.updateStrategy(ref, { ...first, rollout } as never);
    await flags.addStrategy(PRODUCTION, { ...first, rollout } as never);
    const file = await definitionsWith(flags, (all) => all.map((one) => ({ ...one, rollout })));
    await flags.definitions.import(file).catch(() => undefined);
    expect((await flags.rollouts.list()).items).toMatchObject([{ step: 0, steps: STEPS.steps }]);
  });

  it('is said beforehand for 19 flags', async () => {
    const names = Array.from({ length: 19 }, (_, index) => `flag-${index}`);
    for (const name of names) await flags.rollouts.start(await addGradual(flags, '1', name), STEPS);
    const changes = names.map((flag): Change => ({ op: 'disable', ref: { ...PRODUCTION, flag } }));
    const ended = rolloutsEndedBy((await flags.plan(changes)).documents);
    expect(ended.map(({ flag }) => flag)).toEqual(names);
    expect((await flags.rollouts.list()).items).toHaveLength(19);
  });

  describe('a nightly import of a file from before the start', () => {
    const steps = { steps: [...STEPS.steps.slice(0, 3), { percentage: 100, hold: null }] };

    it.each([0, 3])('leaves the rollout and its percentage after %i steps, also without ids', async (taken) => {
      const file = await flags.definitions.export();
      const plain = await definitionsWith(flags, withoutIds);
      await flags.rollouts.start(ref, steps);
      for (let step = 0; step < taken; step++) {
        clock.advance(DAY);
        await flags.runDue();
      }
      const [before] = (await flags.rollouts.list()).items;
      for (const document of [file, plain]) {
        const planned = await flags.definitions.import(document, { dryRun: true });
        expect(planned).toMatchObject({ differences: [], rollouts: [ref], effects: [] });
        expect(await flags.definitions.import(document)).toEqual({
          dryRun: false,
          changeSet: null,
          differences: [],
          rollouts: [ref],
        });
      }
      expect((await flags.rollouts.list()).items).toEqual([before]);
    });

    it('names each such strategy, also beside other changes and for a repeated id', async () => {
      const file = await flags.definitions.export();
      await flags.rollouts.start(ref, steps);
      await flags.updateFlag(CHECKOUT, { description: 'other' });
      const id = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a09';
      const imported = await flags.definitions.import(file, { id });
      expect(imported).toMatchObject({ rollouts: [ref], differences: [{ id: 'checkout' }] });
      expect(await flags.definitions.import(file, { id })).toEqual(imported);
      const metadata = { version: 1, flags: [{ name: 'checkout', description: 'x' }] } as const;
      expect((await flags.definitions.import(metadata)).rollouts).toEqual([]);
    });

    it('knows strategies without ids apart, whatever their percentages and order are', async () => {
      const share = (rollout: string) => ({ name: 'flexibleRollout', parameters: { rollout, groupId: 'b' } }) as const;
      const { id } = await flags.addStrategy(PRODUCTION, share('10'));
      const other = await flags.addStrategy(PRODUCTION, share('20'));
      const plain = await definitionsWith(flags, withoutIds);
      const reversed = await definitionsWith(flags, (all) => withoutIds(all).toReversed());
      await flags.rollouts.start(
        { ...ref, strategy: id },
        { steps: [{ percentage: 20, hold: null }, { percentage: 60 }] },
      );
      for (const percents of [20, 60]) {
        for (const document of [plain, reversed, plain]) {
          await flags.definitions.import(document);
          const found = await strategiesOf(flags);
          const shareOf = (one: string) => found.find((strategy) => strategy.id === one)?.parameters?.rollout;
          expect([shareOf(id), shareOf(other.id)]).toEqual([`${percents}`, '20']);
          expect((await flags.rollouts.list()).items).toHaveLength(1);
        }
        if (percents === 20) {
          await flags.rollouts.stop({ ...ref, strategy: id }, { rollback: true });
          await flags.rollouts.start({ ...ref, strategy: id }, { steps: [{ percentage: 60, hold: null }] });
        }
      }
    });
  });
});
