import type { Flags, Strategy, StrategyInput } from '../../src/index.js';
import { factsOf } from './facts.js';
import { onEveryStorage, type Start } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, INHERITED_NAMES, PRODUCTION } from './references.js';
import { expectRefusal } from './refusal.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

async function checkoutIn(start: Start): Promise<Flags> {
  const flags = await start();
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  return flags;
}

async function strategiesIn(flags: Flags): Promise<readonly Strategy[]> {
  return (await flags.getFlag(CHECKOUT)).environments[1]?.strategies ?? [];
}

onEveryStorage((start) => {
  describe('adding a strategy', () => {
    it('gives it an id and the defaults', async () => {
      const flags = await checkoutIn(start);
      const added = await flags.addStrategy(PRODUCTION, { name: 'default' });
      expect(added).toEqual({ id: expect.stringMatching(UUID), name: 'default', parameters: {}, constraints: [] });
      expect(await strategiesIn(flags)).toEqual([added]);
    });

    it('gives parameters back as they were sent', async () => {
      const flags = await checkoutIn(start);
      const parameters = { rollout: '50', n: 0.5, yes: true, none: null, text: '' };
      expect(await flags.addStrategy(PRODUCTION, { name: 'own', parameters })).toMatchObject({ parameters });
      expect(await strategiesIn(flags)).toMatchObject([{ parameters }]);
    });

    it.each(INHERITED_NAMES)('gives a parameter called %s back', async (name) => {
      const flags = await checkoutIn(start);
      const parameters = JSON.parse(`{"${name}":"mine"}`);
      await flags.addStrategy(PRODUCTION, { name: 'own', parameters });
      const [strategy] = await strategiesIn(flags);
      expect(Object.entries(strategy?.parameters ?? {})).toEqual([[name, 'mine']]);
    });

    it('keeps null parameters', async () => {
      const flags = await checkoutIn(start);
      expect(await flags.addStrategy(PRODUCTION, { name: 'own', parameters: null })).toMatchObject({
        parameters: null,
      });
      expect(await strategiesIn(flags)).toMatchObject([{ parameters: null }]);
    });

    it('keeps the optional members when they are given', async () => {
      const flags = await checkoutIn(start);
      for (const name of ['one', 'two']) await flags.createSegment({ name, constraints: [] });
      const input: StrategyInput = {
        name: 'flexibleRollout',
        title: 'Half',
        disabled: true,
        sortOrder: 3,
        segments: [1, 2],
        variants: [{ name: 'blue', weightType: 'variable', weight: 1000, stickiness: 'default' }],
      };
      expect(await flags.addStrategy(PRODUCTION, input)).toMatchObject(input);
      expect(await strategiesIn(flags)).toMatchObject([input]);
    });

    it('puts it after those that are there, in its environment only', async () => {
      const flags = await checkoutIn(start);
      for (const name of ['c', 'a', 'b']) await flags.addStrategy(PRODUCTION, { name });
      expect((await strategiesIn(flags)).map(({ name }) => name)).toEqual(['c', 'a', 'b']);
      expect((await flags.getFlag(CHECKOUT)).environments[0]?.strategies).toEqual([]);
    });

    it('puts it in the order of sortOrder, where it is shown and where it is evaluated', async () => {
      const flags = await checkoutIn(start);
      const variantOf = (name: string) =>
        [{ name, weightType: 'variable', weight: 1000, stickiness: 'default' }] as const;
      for (const [title, sortOrder] of [
        ['c', 3],
        ['none', undefined],
        ['a', 1],
        ['last', 10_000],
        ['a2', 1],
      ] as const) {
        const order = sortOrder === undefined ? {} : { sortOrder };
        await flags.addStrategy(PRODUCTION, { name: 'default', title, variants: variantOf(title), ...order });
      }
      await flags.enable(PRODUCTION);
      const titles = ['a', 'a2', 'c', 'none', 'last'];
      expect((await strategiesIn(flags)).map(({ title }) => title)).toEqual(titles);
      const [flag] = flags.configuration().flags;
      expect(flag?.strategies.map(({ variants }) => variants?.[0]?.name)).toEqual(titles);
      expect(flags.getVariant('checkout').name).toBe('a');
      expect(flags.explain('checkout').variant.name).toBe('a');
      const [, second] = await strategiesIn(flags);
      const ref = { ...PRODUCTION, strategy: second?.id ?? '' };
      await flags.patchStrategy(ref, [{ op: 'replace', path: '/sortOrder', value: 0 }]);
      expect(flags.getVariant('checkout').name).toBe('a2');
    });

    it.each([0, 100, 33.3, '0', '100', '12.5'])('takes a rollout of %j', async (rollout) => {
      const flags = await checkoutIn(start);
      const added = await flags.addStrategy(PRODUCTION, { name: 'flexibleRollout', parameters: { rollout } });
      expect(added.parameters).toEqual({ rollout });
    });

    it.each([-1, 101, '101', '-0.5', 'half', '', true])('refuses a rollout of %j', async (rollout) => {
      const flags = await checkoutIn(start);
      const error = await expectRefusal(flags, 'invalid_input', () =>
        flags.addStrategy(PRODUCTION, { name: 'flexibleRollout', parameters: { rollout } }),
      );
      expect(error.details).toContainEqual(expect.objectContaining({ path: '/parameters/rollout' }));
    });

    it('leaves the rollout of other strategies to the clients', async () => {
      const flags = await checkoutIn(start);
      expect(await flags.addStrategy(PRODUCTION, { name: 'own', parameters: { rollout: 'half' } })).toMatchObject({
        parameters: { rollout: 'half' },
      });
    });

    it.each([
      {},
      { name: '' },
      { name: 5 },
      { name: 'x'.repeat(101) },
      { name: 'own', parameters: [] },
      { name: 'own', parameters: 'none' },
      { name: 'own', parameters: { nested: {} } },
      { name: 'own', parameters: { list: ['a'] } },
      { name: 'own', constraints: {} },
      { name: 'own', constraints: null },
      { name: 'own', title: 5 },
      { name: 'own', disabled: 'true' },
      { name: 'own', sortOrder: 1.5 },
      { name: 'own', segments: ['1'] },
      { name: 'own', variants: [{}] },
      [],
      null,
      'default',
    ])('refuses %j', async (input) => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, 'invalid_input', () =>
        flags.addStrategy(PRODUCTION, input as unknown as StrategyInput),
      );
    });

    it('lets simultaneous additions all happen', async () => {
      const flags = await checkoutIn(start);
      const added = await Promise.all(
        Array.from({ length: 20 }, (_, n) => flags.addStrategy(PRODUCTION, { name: `own-${n}` })),
      );
      expect(new Set((await strategiesIn(flags)).map(({ id }) => id))).toEqual(new Set(added.map(({ id }) => id)));
    });

    it.each([
      ['project_not_found', { ...PRODUCTION, project: 'none' }],
      ['flag_not_found', { ...PRODUCTION, flag: 'none' }],
      ['environment_not_found', { ...PRODUCTION, environment: 'constructor' }],
    ] as const)('refuses with %s', async (code, place) => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, code, () => flags.addStrategy(place, { name: 'default' }));
    });
  });

  describe('updating a strategy', () => {
    it('replaces everything but id and place', async () => {
      const flags = await checkoutIn(start);
      const { id } = await flags.addStrategy(PRODUCTION, {
        name: 'own',
        parameters: { a: 1 },
        constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }],
        title: 'Mine',
      });
      await flags.addStrategy(PRODUCTION, { name: 'second' });
      const updated = await flags.updateStrategy({ ...PRODUCTION, strategy: id }, { name: 'default' });
      expect(updated).toEqual({ id, name: 'default', parameters: {}, constraints: [] });
      expect(await strategiesIn(flags)).toMatchObject([updated, { name: 'second' }]);
    });

    it('keeps the name when none is given, with the rules for parameters of that name', async () => {
      const flags = await checkoutIn(start);
      const rollout = { name: 'flexibleRollout', parameters: { rollout: 10 } };
      const { id } = await flags.addStrategy(PRODUCTION, rollout);
      const ref = { ...PRODUCTION, strategy: id };
      const updated = await flags.updateStrategy(ref, { parameters: { rollout: 20 } });
      expect(updated).toEqual({ id, name: 'flexibleRollout', parameters: { rollout: 20 }, constraints: [] });
      await expectRefusal(flags, 'invalid_input', () => flags.updateStrategy(ref, { parameters: { rollout: 101 } }));
    });

    it('causes no event without a difference', async () => {
      const flags = await checkoutIn(start);
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'own', parameters: { a: 1 } });
      const again = { name: 'own', parameters: { a: 1 } };
      expect(await factsOf(flags, () => flags.updateStrategy({ ...PRODUCTION, strategy: id }, again))).toEqual([]);
    });

    it('ignores an id in the input', async () => {
      const flags = await checkoutIn(start);
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'own' });
      const input = { id: 'other', name: 'default' };
      expect((await flags.updateStrategy({ ...PRODUCTION, strategy: id }, input)).id).toBe(id);
    });

    it('refuses the same input as adding', async () => {
      const flags = await checkoutIn(start);
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'own' });
      const input = { name: 'flexibleRollout', parameters: { rollout: 101 } };
      await expectRefusal(flags, 'invalid_input', () => flags.updateStrategy({ ...PRODUCTION, strategy: id }, input));
    });
  });

  describe('a strategy’s id', () => {
    const changes: readonly [
      string,
      (flags: Flags, ref: typeof PRODUCTION & { strategy: string }) => Promise<unknown>,
    ][] = [
      ['updating', (flags, ref) => flags.updateStrategy(ref, { name: 'x' })],
      ['patching', (flags, ref) => flags.patchStrategy(ref, [{ op: 'replace', path: '/name', value: 'x' }])],
      ['removing', (flags, ref) => flags.removeStrategy(ref)],
    ];

    it.each(changes)('is found in its own flag and environment only, when %s', async (_, change) => {
      const flags = await checkoutIn(start);
      await flags.createFlag(DEFAULT, { name: 'other' });
      const { id } = await flags.addStrategy(DEVELOPMENT, { name: 'default' });
      const { id: elsewhere } = await flags.addStrategy({ ...PRODUCTION, flag: 'other' }, { name: 'default' });
      for (const strategy of [id, elsewhere, 'none', '__proto__']) {
        await expectRefusal(flags, 'strategy_not_found', () => change(flags, { ...PRODUCTION, strategy }));
      }
    });
  });

  describe('removing a strategy', () => {
    it('works once', async () => {
      const flags = await checkoutIn(start);
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
      expect(await factsOf(flags, () => flags.removeStrategy({ ...PRODUCTION, strategy: id }))).toEqual([
        'strategy-removed',
      ]);
      expect(await strategiesIn(flags)).toEqual([]);
      await expectRefusal(flags, 'strategy_not_found', () => flags.removeStrategy({ ...PRODUCTION, strategy: id }));
    });
  });
});
