import type { Constraint, Flags, Strategy, StrategyInput } from '../../src/index.js';
import { factsOf } from '../facts.js';
import { onEveryStorage, type Start } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, INHERITED_NAMES, PRODUCTION } from '../references.js';
import { expectRefusal } from '../refusal.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

async function checkoutIn(start: Start): Promise<Flags<string>> {
  const flags = await start();
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  return flags;
}

async function strategiesIn(flags: Flags<string>): Promise<readonly Strategy[]> {
  return (await flags.getFlag(CHECKOUT)).environments[1]?.strategies ?? [];
}

onEveryStorage((start) => {
  describe('adding a strategy', () => {
    it('sets an id and the defaults', async () => {
      const flags = await checkoutIn(start);
      const added = await flags.addStrategy(PRODUCTION, { name: 'default' });
      expect(added).toEqual({ id: expect.stringMatching(UUID), name: 'default', parameters: {}, constraints: [] });
      expect(await strategiesIn(flags)).toEqual([added]);
    });

    it('returns parameters as they were sent', async () => {
      const flags = await checkoutIn(start);
      const parameters = { rollout: '50', n: 0.5, yes: true, none: null, text: '' };
      expect(await flags.addStrategy(PRODUCTION, { name: 'own', parameters })).toMatchObject({ parameters });
      expect(await strategiesIn(flags)).toMatchObject([{ parameters }]);
    });

    it.each(INHERITED_NAMES)('returns a parameter called %s', async (name) => {
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
      for (const name of ['one', 'two']) await flags.segments.create({ name, constraints: [] });
      const input: StrategyInput<string> = {
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

    it('appends it to the existing strategies, in its environment only', async () => {
      const flags = await checkoutIn(start);
      for (const name of ['c', 'a', 'b']) await flags.addStrategy(PRODUCTION, { name });
      expect((await strategiesIn(flags)).map(({ name }) => name)).toEqual(['c', 'a', 'b']);
      expect((await flags.getFlag(CHECKOUT)).environments[0]?.strategies).toEqual([]);
    });

    it('inserts it in the order of sortOrder, where it is shown and where it is evaluated', async () => {
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
      await flags.orderStrategies(PRODUCTION, [{ id: second?.id ?? '', sortOrder: 0 }]);
      expect(flags.getVariant('checkout').name).toBe('a2');
    });

    it.each([0, 100, 33, '0', '100', '12.0', '1e1'])('accepts a rollout of %j', async (rollout) => {
      const flags = await checkoutIn(start);
      const added = await flags.addStrategy(PRODUCTION, { name: 'flexibleRollout', parameters: { rollout } });
      expect(added.parameters).toEqual({ rollout });
    });

    it.each([-1, 101, '101', '-0.5', 'half', '', true, 33.3, '0.5', 99.9])(
      'refuses a rollout of %j',
      async (rollout) => {
        const flags = await checkoutIn(start);
        const error = await expectRefusal(flags, 'invalid_input', () =>
          flags.addStrategy(PRODUCTION, { name: 'flexibleRollout', parameters: { rollout } }),
        );
        expect(error.details).toContainEqual(expect.objectContaining({ path: '/parameters/rollout' }));
      },
    );

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

    it('applies all of several simultaneous additions', async () => {
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

    it('keeps the name by default, with the rules for parameters of that name', async () => {
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
      (flags: Flags<string>, ref: typeof PRODUCTION & { strategy: string }) => Promise<unknown>,
    ][] = [
      ['updating', (flags, ref) => flags.updateStrategy(ref, { name: 'x' })],
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

const LIST_OPERATORS = ['IN', 'NOT_IN', 'STR_CONTAINS', 'STR_STARTS_WITH', 'STR_ENDS_WITH'] as const;
const NUMBER_OPERATORS = ['NUM_EQ', 'NUM_GT', 'NUM_GTE', 'NUM_LT', 'NUM_LTE'] as const;
const DATE_OPERATORS = ['DATE_AFTER', 'DATE_BEFORE'] as const;
const VERSION_OPERATORS = ['SEMVER_EQ', 'SEMVER_GT', 'SEMVER_GTE', 'SEMVER_LT', 'SEMVER_LTE'] as const;

const USABLE: readonly Constraint[] = [
  ...LIST_OPERATORS.map((operator) => ({ contextName: 'userId', operator, values: ['7', ' 8 '] })),
  ...NUMBER_OPERATORS.flatMap((operator) =>
    ['0', '-1', '1.5', '1e3'].map((value) => ({ contextName: 'age', operator, value })),
  ),
  ...DATE_OPERATORS.flatMap((operator) =>
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123+02:00'].map((value) => ({
      contextName: 'now',
      operator,
      value,
    })),
  ),
  ...VERSION_OPERATORS.flatMap((operator) =>
    ['1.2.3', '1.0.0-alpha.1+build.5'].map((value) => ({ contextName: 'version', operator, value })),
  ),
  ...[
    '',
    '^a+$',
    '(?i)[[:alpha:]]{2,5}\\d',
    '(?P<year>[0-9]{4})',
    '\\Qa(\\E',
    '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}',
  ].map((value) => ({ contextName: 'email', operator: 'REGEX' as const, value })),
  {
    contextName: 'remoteAddress',
    operator: 'IN_CIDR',
    values: ['10.0.0.0/8', '192.0.2.7', '0.0.0.0/0', '2001:db8::/32', '::1', '::ffff:192.0.2.7/128'],
  },
  { contextName: 'userId', operator: 'IN', values: ['7'], inverted: true, caseInsensitive: true },
];

const UNUSABLE: readonly [unknown, string][] = [
  ...LIST_OPERATORS.map((operator): [unknown, string] => [{ contextName: 'a', operator }, '/constraints/0']),
  ...LIST_OPERATORS.flatMap((operator): [unknown, string][] => [
    [{ contextName: 'a', operator, values: [] }, '/constraints/0/values'],
    [{ contextName: 'a', operator, values: ['a', ''] }, '/constraints/0/values/1'],
  ]),
  ...NUMBER_OPERATORS.map((operator): [unknown, string] => [{ contextName: 'a', operator }, '/constraints/0']),
  ...['', 'many', 'NaN', 'Infinity', '1,5'].map((value): [unknown, string] => [
    { contextName: 'a', operator: 'NUM_GT', value },
    '/constraints/0/value',
  ]),
  ...['', 'today', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z'].map((value): [unknown, string] => [
    { contextName: 'a', operator: 'DATE_AFTER', value },
    '/constraints/0/value',
  ]),
  ...['', '1', '1.2', 'v1.2.3', '01.2.3', '1.2.3-'].map((value): [unknown, string] => [
    { contextName: 'a', operator: 'SEMVER_GT', value },
    '/constraints/0/value',
  ]),
  ...['(', 'a{1001}', '(?=a)', '(a)\\1', '*', '((a{30}){30}){30}', '(a{1,999})?'.repeat(2), 'a'.repeat(1001)].map(
    (value): [unknown, string] => [{ contextName: 'a', operator: 'REGEX', value }, '/constraints/0/value'],
  ),
  [{ contextName: 'a', operator: 'REGEX', values: ['a'] }, '/constraints/0/value'],
  ...[
    '',
    '10.0.0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '::/129',
    'fe80::1%eth0',
    'localhost',
  ].map((value): [unknown, string] => [
    { contextName: 'a', operator: 'IN_CIDR', values: ['::1', value] },
    '/constraints/0/values/1',
  ]),
  [{ contextName: 'a', operator: 'IN_CIDR', value: '::1' }, '/constraints/0/values'],
  [{ contextName: 'a', operator: 'IN', values: '7' }, '/constraints/0/values'],
  [{ contextName: 'a', operator: 'IN', values: [7] }, '/constraints/0/values/0'],
  [{ contextName: 'a', operator: 'IN', values: ['7'], other: 1 }, '/constraints/0'],
  [{ contextName: 'a', operator: 'IN', values: ['7'], inverted: 'no' }, '/constraints/0/inverted'],
  [{ contextName: 'a', operator: 'LIKE', values: ['7'] }, '/constraints/0/operator'],
  [{ contextName: 'a', operator: 'constructor', values: ['7'] }, '/constraints/0/operator'],
  [{ contextName: 5, operator: 'IN', values: ['7'] }, '/constraints/0/contextName'],
  [{ operator: 'IN', values: ['7'] }, '/constraints/0'],
  [{}, '/constraints/0'],
  [null, '/constraints/0'],
];

onEveryStorage((start) => {
  describe('a constraint', () => {
    it.each(USABLE)('is kept and returned: $operator $value', async (constraint) => {
      const flags = await start();
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      const added = await flags.addStrategy(PRODUCTION, { name: 'default', constraints: [constraint] });
      expect(added.constraints).toMatchObject([constraint]);
      expect((await flags.getFlag(CHECKOUT)).environments[1]?.strategies).toEqual([added]);
    });

    it.each(UNUSABLE)('is refused, with its path: %j', async (constraint, place) => {
      const flags = await start();
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      const input = { name: 'default', constraints: [constraint] as Constraint[] };
      const error = await expectRefusal(flags, 'invalid_input', () => flags.addStrategy(PRODUCTION, input));
      expect(error.details.some(({ path }) => path?.startsWith(place))).toBe(true);
    });
  });
});
