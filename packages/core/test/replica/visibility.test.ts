import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { type Flags, isFlagsError, memoryStorage, openFlags } from '../../src/index.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { onEveryStorage, type Start } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, INHERITED_NAMES, PRODUCTION } from '../references.js';
import { refusalOf } from '../refusal.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { openWithoutFlushing } from '../storage-kinds.js';
import { someConstraints, someStrategies, someVariants } from './any-flags.js';
import { SILENT } from './silent.js';
import { createSwitchedOn, onlyFor } from './switched-on.js';
import { expectWholeSets } from './whole-sets.js';

// Callers that lose a race pause before they try again.
jest.setTimeout(60_000);

const ADA = { userId: 'ada' };

async function checkoutOn(start: Start) {
  const flags = await start(SILENT);
  const [strategy] = await createSwitchedOn(flags, { flag: 'checkout' });
  return { flags, ref: { ...PRODUCTION, strategy: strategy?.id ?? '' } };
}

function isKnown(flags: Flags, flag: string): boolean {
  return flags.isEnabled(flag, {}, { fallback: true }) === flags.isEnabled(flag, {}, { fallback: false });
}

onEveryStorage((start) => {
  describe('the next call after a change', () => {
    it('sees a created flag', async () => {
      const flags = await start(SILENT);
      expect(flags.isEnabled('checkout', ADA, { fallback: true })).toBe(true);
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      expect(flags.isEnabled('checkout', ADA, { fallback: true })).toBe(false);
    });

    it('sees it switched on and off', async () => {
      const { flags } = await checkoutOn(start);
      expect(flags.isEnabled('checkout')).toBe(true);
      await flags.disable(PRODUCTION);
      expect(flags.isEnabled('checkout')).toBe(false);
      await flags.enable(PRODUCTION);
      expect(flags.isEnabled('checkout')).toBe(true);
    });

    it('sees strategies added, replaced and removed', async () => {
      const { flags, ref } = await checkoutOn(start);
      await flags.updateStrategy(ref, onlyFor('ada'));
      expect([flags.isEnabled('checkout', ADA), flags.isEnabled('checkout', { userId: 'bob' })]).toEqual([true, false]);
      await flags.updateStrategy(ref, onlyFor('bob'));
      expect([flags.isEnabled('checkout', ADA), flags.isEnabled('checkout', { userId: 'bob' })]).toEqual([false, true]);
      const added = await flags.addStrategy(PRODUCTION, onlyFor('ada'));
      expect(flags.isEnabled('checkout', ADA)).toBe(true);
      await flags.removeStrategy({ ...PRODUCTION, strategy: added.id });
      expect(flags.isEnabled('checkout', ADA)).toBe(false);
      await flags.removeStrategy(ref);
      expect(flags.explain('checkout', ADA).reason).toBe('disabled');
    });

    it('sees variants set, replaced and cleared', async () => {
      const { flags } = await checkoutOn(start);
      await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
      expect(flags.getVariant('checkout').name).toBe('blue');
      await flags.setVariants(CHECKOUT, [{ name: 'green' }]);
      expect(flags.getVariant('checkout').name).toBe('green');
      await flags.setVariants(CHECKOUT, []);
      expect(flags.getVariant('checkout')).toEqual({ name: 'disabled', enabled: false, flagEnabled: true });
    });

    it('sees a flag archived, revived switched off, and deleted', async () => {
      const { flags } = await checkoutOn(start);
      await flags.archiveFlag(CHECKOUT);
      expect(isKnown(flags, 'checkout')).toBe(false);
      await flags.reviveFlag({ flag: 'checkout' });
      expect([isKnown(flags, 'checkout'), flags.isEnabled('checkout')]).toEqual([true, false]);
      await flags.enable(PRODUCTION);
      expect(flags.isEnabled('checkout')).toBe(true);
      await flags.archiveFlag(CHECKOUT);
      await flags.deleteFlag({ flag: 'checkout' });
      expect(isKnown(flags, 'checkout')).toBe(false);
    });

    it('sees a flag that is created again under the name of a deleted one', async () => {
      const { flags } = await checkoutOn(start);
      await flags.archiveFlag(CHECKOUT);
      await flags.deleteFlag({ flag: 'checkout' });
      await createSwitchedOn(flags, { flag: 'checkout', strategies: [onlyFor('ada')] });
      expect([flags.isEnabled('checkout', ADA), flags.isEnabled('checkout')]).toEqual([true, false]);
    });

    it('sees a clone, switched off, with the strategies of its source', async () => {
      const { flags } = await checkoutOn(start);
      await flags.cloneFlag(CHECKOUT, { name: 'copy' });
      expect([isKnown(flags, 'copy'), flags.isEnabled('copy')]).toEqual([true, false]);
      await flags.enable({ ...PRODUCTION, flag: 'copy' });
      expect(flags.isEnabled('copy')).toBe(true);
    });

    it('sees the content of a segment, for every flag that uses it', async () => {
      const { flags, ref } = await checkoutOn(start);
      const users = (...values: readonly string[]) => [{ contextName: 'userId', operator: 'IN' as const, values }];
      const { id } = await flags.segments.create({ name: 'beta', constraints: users('ada') });
      await flags.updateStrategy(ref, { name: 'default', segments: [id] });
      await createSwitchedOn(flags, { flag: 'second', strategies: [{ name: 'default', segments: [id] }] });
      expect(['checkout', 'second'].map((flag) => flags.isEnabled(flag, ADA))).toEqual([true, true]);
      await flags.segments.update({ segment: id }, { constraints: users('bob') });
      expect(['checkout', 'second'].map((flag) => flags.isEnabled(flag, ADA))).toEqual([false, false]);
      await flags.segments.update({ segment: id }, { constraints: [] });
      expect(['checkout', 'second'].map((flag) => flags.isEnabled(flag, ADA))).toEqual([true, true]);
    });

    it('sees a segment created and deleted', async () => {
      const flags = await start(SILENT);
      const { id } = await flags.segments.create({ name: 'beta', constraints: [] });
      expect(flags.configuration().segments).toEqual([{ id, name: 'beta', constraints: [] }]);
      await flags.segments.delete({ segment: id });
      expect(flags.configuration().segments).toEqual([]);
    });

    it('sees added and removed dependencies, and changes of a parent', async () => {
      const { flags } = await checkoutOn(start);
      await createSwitchedOn(flags, { flag: 'payments' });
      await flags.addDependency(CHECKOUT, { flag: 'payments' });
      expect(flags.isEnabled('checkout')).toBe(true);
      await flags.disable({ ...PRODUCTION, flag: 'payments' });
      expect(flags.isEnabled('checkout')).toBe(false);
      await flags.addDependency(CHECKOUT, { flag: 'payments', enabled: false });
      expect(flags.isEnabled('checkout')).toBe(true);
      await flags.enable({ ...PRODUCTION, flag: 'payments' });
      expect(flags.isEnabled('checkout')).toBe(false);
      await flags.removeDependency(CHECKOUT, { flag: 'payments' });
      expect(flags.isEnabled('checkout')).toBe(true);
    });

    it('sees that impression data is enabled', async () => {
      const { flags } = await checkoutOn(start);
      const told: string[] = [];
      flags.onImpression(({ flag }) => told.push(flag));
      flags.isEnabled('checkout');
      await flags.updateFlag(CHECKOUT, { impressionData: true });
      flags.isEnabled('checkout');
      expect(told).toEqual(['checkout']);
    });

    it('sees the changes of another actor of the same instance', async () => {
      const { flags } = await checkoutOn(start);
      const ada = flags.as('ada');
      await ada.disable(PRODUCTION);
      expect([flags.isEnabled('checkout'), ada.isEnabled('checkout')]).toEqual([false, false]);
    });

    it('is not affected by mutations of results or inputs', async () => {
      const { flags } = await checkoutOn(start);
      const variants = [{ name: 'blue', overrides: [{ contextName: 'userId', values: ['ada'] }] }];
      const set = await flags.setVariants(CHECKOUT, variants);
      const added = await flags.addStrategy(PRODUCTION, onlyFor('ada'));
      const before = structuredClone(flags.configuration());
      Object.assign(added.parameters ?? {}, { userIds: 'mallory' });
      for (const variant of [...set, ...variants]) Object.assign(variant, { name: 'green', overrides: [] });
      expect(flags.configuration()).toEqual(before);
      expect(flags.getVariant('checkout', ADA).name).toBe('blue');
    });

    it('does not see a change that was refused', async () => {
      const { flags } = await checkoutOn(start);
      const { version: stamp } = flags.configuration();
      await expect(flags.enable(DEVELOPMENT)).rejects.toMatchObject({ code: 'environment_has_no_strategies' });
      await expect(flags.disable(PRODUCTION, { ifRevision: 99 })).rejects.toMatchObject({
        code: 'revision_mismatch',
      });
      expect([flags.isEnabled('checkout'), flags.configuration().version]).toEqual([true, stamp]);
    });
  });
});

describe('environments', () => {
  const FALLBACK = { name: 'mine', enabled: true, payload: { type: 'string', value: 'of the caller' } } as const;

  /** On in production, off in development. */
  async function checkoutIn(start: Start) {
    const flags = await start(SILENT);
    await createSwitchedOn(flags, { flag: 'checkout' });
    return flags;
  }

  onEveryStorage((start) => {
    describe('the environment of an evaluation', () => {
      it('is production by default, or else the first', async () => {
        expect((await start(SILENT)).settings.environment).toBe('production');
        const flags = await start({ ...SILENT, environments: [{ name: 'one' }, { name: 'two' }] });
        await createSwitchedOn(flags, { flag: 'checkout', environment: 'one' });
        expect(flags.settings.environment).toBe('one');
        expect([flags.isEnabled('checkout'), flags.isEnabled('checkout', {}, { environment: 'two' })]).toEqual([
          true,
          false,
        ]);
      });

      it('is set by the options', async () => {
        const flags = await start({ ...SILENT, environment: 'development' });
        await createSwitchedOn(flags, { flag: 'checkout', environment: 'development' });
        expect([flags.isEnabled('checkout'), flags.isEnabled('checkout', {}, { environment: 'production' })]).toEqual([
          true,
          false,
        ]);
      });

      it('can be chosen for every call', async () => {
        const flags = await checkoutIn(start);
        const development = { environment: 'development' };
        await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
        expect(flags.isEnabled('checkout', {}, development)).toBe(false);
        expect(flags.getVariant('checkout', {}, development).name).toBe('disabled');
        expect(flags.explain('checkout', {}, development).reason).toBe('disabled');
        expect(flags.forContext({}, development).isEnabled('checkout')).toBe(false);
        expect(flags.configuration(development).flags).toMatchObject([{ name: 'checkout', enabled: false }]);
        await flags.addStrategy(DEVELOPMENT, { name: 'default' });
        await flags.enable(DEVELOPMENT);
        expect(flags.isEnabled('checkout', {}, development)).toBe(true);
        expect(flags.getVariant('checkout', {}, development).name).toBe('blue');
      });

      it.each(['none', '', ...INHERITED_NAMES])('is refused at once when it is unknown: %p', async (environment) => {
        const flags = await checkoutIn(start);
        const options = { environment, fallback: true };
        const calls = [
          () => flags.isEnabled('checkout', {}, options),
          () => flags.getVariant('checkout', {}, { environment, fallback: FALLBACK }),
          () => flags.explain('checkout', {}, options),
          () => flags.forContext({}, options),
          () => flags.configuration(options),
        ];
        for (const call of calls) expect(call).toThrow(expect.objectContaining({ code: 'environment_not_found' }));
        expect(calls[0]).toThrow(`There is no environment ${environment}; there are development, production.`);
      });
    });

    describe('the fallback', () => {
      it('answers for a flag that does not exist', async () => {
        const flags = await start(SILENT);
        expect([flags.isEnabled('none'), flags.isEnabled('none', {}, { fallback: true })]).toEqual([false, true]);
        expect(flags.getVariant('none')).toEqual({ name: 'disabled', enabled: false, flagEnabled: false });
        expect(flags.getVariant('none', {}, { fallback: FALLBACK })).toEqual({ ...FALLBACK, flagEnabled: false });
      });

      it('answers for an archived flag', async () => {
        const flags = await checkoutIn(start);
        await flags.archiveFlag(CHECKOUT);
        expect(flags.isEnabled('checkout', {}, { fallback: true })).toBe(true);
        expect(flags.getVariant('checkout', {}, { fallback: FALLBACK }).name).toBe('mine');
        expect(flags.explain('checkout').reason).toBe('unknown_flag');
      });

      it('is never used for a disabled flag', async () => {
        const flags = await start(SILENT);
        await flags.createFlag(DEFAULT, { name: 'checkout' });
        expect(flags.isEnabled('checkout', {}, { fallback: true })).toBe(false);
        expect(flags.getVariant('checkout', {}, { fallback: FALLBACK }).name).toBe('disabled');
      });

      it.each(INHERITED_NAMES)('answers for %s until the flag exists', async (flag) => {
        const flags = await start(SILENT);
        expect(flags.isEnabled(flag, {}, { fallback: true })).toBe(true);
        await flags.createFlag(DEFAULT, { name: flag });
        expect(flags.isEnabled(flag, {}, { fallback: true })).toBe(false);
      });
    });
  });

  describe('options of an evaluation', () => {
    it('may be null where no types prevent it', async () => {
      const flags = await openFlags<string>({ ...SILENT, storage: memoryStorage() });
      await createSwitchedOn(flags, { flag: 'checkout' });
      const nothing = null as never;
      expect([flags.isEnabled('checkout', nothing, nothing), flags.isEnabled('none', nothing, nothing)]).toEqual([
        true,
        false,
      ]);
      expect(flags.getVariant('none', nothing, nothing).enabled).toBe(false);
      expect(flags.forContext(nothing, nothing).isEnabled('checkout')).toBe(true);
      expect(flags.explain('checkout', nothing, nothing).enabled).toBe(true);
      await flags.close();
    });

    it.each(['none', '', 'toString', 7])('cannot set %p as the default environment', async (environment) => {
      const opening = openFlags<string>({ storage: memoryStorage(), environment: environment as string });
      const { code, details } = await refusalOf(opening);
      expect(code).toBe('invalid_input');
      expect(details).toEqual([expect.objectContaining({ path: '/environment' })]);
    });
  });
});

describe('another node', () => {
  it('never evaluates half a change set on one SQLite file', async () => {
    const directory = temporaryDirectory();
    await expectWholeSets(() => openWithoutFlushing(`${directory.path}/flags.db`));
    directory.remove();
  });

  it('never evaluates half a change set on one storage of its process', async () => {
    const shared = memoryStorage();
    await expectWholeSets(() => ({ ...shared, close: async () => undefined }));
  });

  it('never stops within a change set that is longer than a page of the feed', async () => {
    const shared: FlagsStorage = { ...memoryStorage(), close: async () => undefined };
    const writer = await openFlags<string>({ ...SILENT, storage: shared });
    const reader = await openFlags<string>({ ...SILENT, storage: shared });
    const names = Array.from({ length: 1_300 }, (_, index) => `flag-${index}`);
    const states = names.map((name) => ({
      ...{ name, project: 'default', description: '', type: 'release', stale: false, impressionData: false },
      ...{ archived: false, createdAt: '2026-01-01T00:00:00.000Z', variants: [], dependencies: [], environments: [] },
    }));
    const about = { at: '2026-01-01T00:00:00.000Z', actor: 'ada', changeSet: 'long', project: 'default' };
    await shared.commit({
      writes: states.map((body) => {
        return { key: { kind: 'flag', id: body.name }, expected: 0, parent: 'default', body, summary: {} };
      }),
      events: states.map((data) => {
        const subject = { kind: 'flag', id: data.name };
        return { type: 'flag-created', ...about, subject, environment: null, data, before: null };
      }),
    });
    const counts = new Set<number>();
    reader.onConfigurationChange(() => counts.add(reader.configuration().flags.length));
    await reader.refresh();
    expect([...counts]).toEqual([1_300]);
    await writer.close();
    await reader.close();
  });
});

describe('simultaneous changes', () => {
  const NAMES = ['one', 'two', 'three', '__proto__'] as const;
  const CONTEXTS = [{ userId: 'ada' }, { userId: 'bob', properties: { region: '7' } }] as const;

  type Change = (flags: Flags<string>) => Promise<unknown>;

  const name = fc.constantFrom(...NAMES);
  const environment = fc.constantFrom('production', 'development');
  const place = fc.record({ ...{ project: fc.constant('default') }, flag: name, environment });

  /** One operation on one of a few flags; many are refused, as when callers do not know of each other. */
  const someChange: fc.Arbitrary<Change> = fc.oneof(
    name.map(
      (flag): Change =>
        (flags) =>
          flags.createFlag(DEFAULT, { name: flag }),
    ),
    fc.tuple(name, name).map(
      ([flag, copy]): Change =>
        (flags) =>
          flags.cloneFlag({ ...DEFAULT, flag }, { name: copy }),
    ),
    name.map(
      (flag): Change =>
        (flags) =>
          flags.archiveFlag({ ...DEFAULT, flag }),
    ),
    name.map(
      (flag): Change =>
        (flags) =>
          flags.reviveFlag({ flag }),
    ),
    name.map(
      (flag): Change =>
        (flags) =>
          flags.deleteFlag({ flag }),
    ),
    place.map(
      (ref): Change =>
        (flags) =>
          flags.enable(ref),
    ),
    place.map(
      (ref): Change =>
        (flags) =>
          flags.disable(ref),
    ),
    fc.tuple(place, someStrategies).map(
      ([ref, [strategy]]): Change =>
        async (flags) => {
          if (strategy) await flags.addStrategy(ref, strategy);
        },
    ),
    place.map(
      (ref): Change =>
        async (flags) => {
          const { environments } = await flags.getFlag(ref);
          const [strategy] = environments.find((one) => one.name === ref.environment)?.strategies ?? [];
          if (strategy) await flags.removeStrategy({ ...ref, strategy: strategy.id });
        },
    ),
    fc.tuple(name, someVariants).map(
      ([flag, variants]): Change =>
        (flags) =>
          flags.setVariants({ ...DEFAULT, flag }, variants),
    ),
    fc.tuple(name, name).map(
      ([flag, parent]): Change =>
        (flags) =>
          flags.addDependency({ ...DEFAULT, flag }, { flag: parent }),
    ),
    name.map(
      (flag): Change =>
        (flags) =>
          flags.removeDependencies({ ...DEFAULT, flag }),
    ),
    fc.constantFrom('a', 'b').map(
      (segment): Change =>
        (flags) =>
          flags.segments.create({ name: segment, constraints: [] }),
    ),
    someConstraints.map(
      (constraints): Change =>
        (flags) =>
          flags.segments.update({ segment: 1 }, { constraints }),
    ),
    fc.constantFrom(1, 2).map(
      (segment): Change =>
        (flags) =>
          flags.segments.delete({ segment }),
    ),
    fc.constant<Change>((flags) => flags.refresh()),
  );

  /** Refusals by rules are expected; any other failure is not. */
  async function attempt(flags: Flags, change: Change): Promise<void> {
    try {
      await change(flags);
    } catch (error) {
      if (!isFlagsError(error)) throw error;
    }
  }

  /** The configuration of an instance, and its evaluations. */
  function answersOf(flags: Flags<string>) {
    return ['production', 'development'].map((where) => {
      const choice = { environment: where };
      const { flags: definitions, segments } = flags.configuration(choice);
      const answers = CONTEXTS.map((context) => flags.forContext(context, choice).evaluateAll());
      return { definitions, segments, answers };
    });
  }

  async function expectAsFresh(storage: FlagsStorage, flags: Flags): Promise<void> {
    const fresh = await openFlags<string>({ ...SILENT, storage: { ...storage, close: () => undefined } });
    expect(answersOf(flags)).toEqual(answersOf(fresh));
    await fresh.close();
  }

  it('leave every instance with the evaluations of a new one on the same storage', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(someChange, fc.boolean()), { minLength: 20, maxLength: 60 }),
        async (changes) => {
          const storage = memoryStorage();
          const [one, other] = await Promise.all([1, 2].map(() => openFlags<string>({ ...SILENT, storage })));
          if (!one || !other) throw new Error('Two instances were opened.');
          await Promise.all(
            changes.map(async ([change, isOnes]) => {
              await attempt(isOnes ? one : other, change);
              for (const context of CONTEXTS) for (const flag of NAMES) one.isEnabled(flag, context);
            }),
          );
          await Promise.all([one.refresh(), other.refresh()]);
          for (const flags of [one, other]) await expectAsFresh(storage, flags);
          await one.close();
        },
      ),
      { numRuns: extent({ short: 10, full: 60 }) },
    );
  });

  it('need no refresh if one instance makes them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someChange, { minLength: 20, maxLength: 60 }), async (changes) => {
        const storage = memoryStorage();
        const flags = await openFlags<string>({ ...SILENT, storage });
        await Promise.all(changes.map((change) => attempt(flags, change)));
        await expectAsFresh(storage, flags);
        await flags.close();
      }),
      { numRuns: extent({ short: 30, full: 200 }) },
    );
  });
});
