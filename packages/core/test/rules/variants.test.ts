import type { Flags, JsonPatch, VariantInput } from '../../src/index.js';
import { factsOf } from './facts.js';
import { onEveryStorage, type Start } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, INHERITED_NAMES } from './references.js';
import { expectRefusal } from './refusal.js';

async function checkoutIn(start: Start): Promise<Flags> {
  const flags = await start();
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  return flags;
}

const BLUE: VariantInput = { name: 'blue', weightType: 'fix', weight: 100 };
const GREEN: VariantInput = { name: 'green' };

async function weightsIn(flags: Flags): Promise<readonly [string, number][]> {
  return (await flags.getFlag(CHECKOUT)).variants.map(({ name, weight }) => [name, weight]);
}

const FAULTY: readonly [string, unknown[]][] = [
  ['only fixed weights', [{ name: 'a', weightType: 'fix', weight: 500 }]],
  ['fixed weights of 1000', [{ name: 'a', weightType: 'fix', weight: 1000 }, { name: 'b' }]],
  [
    'fixed weights above 1000',
    [{ name: 'a', weightType: 'fix', weight: 600 }, { name: 'b', weightType: 'fix', weight: 600 }, { name: 'c' }],
  ],
  ['a name twice', [{ name: 'a' }, { name: 'a' }]],
  ['a fixed variant without a weight', [{ name: 'a', weightType: 'fix' }, { name: 'b' }]],
  ['a negative weight', [{ name: 'a', weightType: 'fix', weight: -1 }, { name: 'b' }]],
  ['a broken weight', [{ name: 'a', weightType: 'fix', weight: 1.5 }, { name: 'b' }]],
  ['a weight as text', [{ name: 'a', weightType: 'fix', weight: '100' }, { name: 'b' }]],
  ['a weight above the scale', [{ name: 'a', weight: 1001 }]],
  ['an unknown weight type', [{ name: 'a', weightType: 'other' }]],
  ['no name', [{ weightType: 'variable' }]],
  ['a name that is no flag name', [{ name: 'a b' }]],
  ['an unknown member', [{ name: 'a', color: 'red' }]],
  ['a number for a stickiness', [{ name: 'a', stickiness: 1 }]],
  ['a payload without a value', [{ name: 'a', payload: { type: 'string' } }]],
  ['an unknown payload type', [{ name: 'a', payload: { type: 'xml', value: '' } }]],
  ['an unknown payload member', [{ name: 'a', payload: { type: 'string', value: '', x: 1 } }]],
  ['a json payload that is none', [{ name: 'a', payload: { type: 'json', value: '{' } }]],
  ['a json payload that is not text', [{ name: 'a', payload: { type: 'json', value: {} } }]],
  ['a number payload that is none', [{ name: 'a', payload: { type: 'number', value: 'many' } }]],
  ['an empty number payload', [{ name: 'a', payload: { type: 'number', value: '' } }]],
  ['an override without values', [{ name: 'a', overrides: [{ contextName: 'userId' }] }]],
  ['an override of numbers', [{ name: 'a', overrides: [{ contextName: 'userId', values: [7] }] }]],
  ['an unknown override member', [{ name: 'a', overrides: [{ contextName: 'u', values: [], x: 1 }] }]],
  ['null', [null]],
];

onEveryStorage((start) => {
  describe('setting variants', () => {
    it('fills in the defaults and keeps the order given', async () => {
      const flags = await checkoutIn(start);
      const variants = await flags.setVariants(CHECKOUT, [GREEN, BLUE]);
      expect(variants).toEqual([
        { name: 'green', weightType: 'variable', weight: 900, stickiness: 'default', overrides: [] },
        { name: 'blue', weightType: 'fix', weight: 100, stickiness: 'default', overrides: [] },
      ]);
      expect((await flags.getFlag(CHECKOUT)).variants).toEqual(variants);
    });

    it('keeps payload, stickiness and overrides', async () => {
      const flags = await checkoutIn(start);
      const input = ['string', 'json', 'csv', 'number'].map((type) => ({
        name: type,
        stickiness: 'userId',
        payload: { type: type as 'json', value: '17' },
        overrides: [{ contextName: 'userId', values: ['7', '8'] }],
      }));
      expect(await flags.setVariants(CHECKOUT, input)).toMatchObject(input);
    });

    it('overwrites those that were there, and clears them with an empty list', async () => {
      const flags = await checkoutIn(start);
      await flags.setVariants(CHECKOUT, [BLUE, GREEN]);
      await flags.setVariants(CHECKOUT, [{ name: 'red' }]);
      expect(await weightsIn(flags)).toEqual([['red', 1000]]);
      expect(await flags.setVariants(CHECKOUT, [])).toEqual([]);
      expect(await weightsIn(flags)).toEqual([]);
    });

    it('takes names that objects inherit members by', async () => {
      const flags = await checkoutIn(start);
      await flags.setVariants(
        CHECKOUT,
        INHERITED_NAMES.map((name) => ({ name })),
      );
      expect(await weightsIn(flags)).toEqual(INHERITED_NAMES.map((name) => [name, 250]));
    });

    it('ignores the weight of a variable variant', async () => {
      const flags = await checkoutIn(start);
      await flags.setVariants(CHECKOUT, [
        { name: 'a', weight: 7 },
        { name: 'b', weightType: 'variable', weight: 0 },
      ]);
      expect(await weightsIn(flags)).toEqual([
        ['a', 500],
        ['b', 500],
      ]);
    });

    it.each(FAULTY)('refuses %s', async (_, variants) => {
      const flags = await checkoutIn(start);
      await flags.setVariants(CHECKOUT, [GREEN]);
      const attempt = () => flags.setVariants(CHECKOUT, variants as VariantInput[]);
      await expectRefusal(flags, 'invalid_input', attempt);
    });

    it.each([{}, null, 'blue', { name: 'blue' }])('refuses %j, which is not a list', async (variants) => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, 'invalid_input', () =>
        flags.setVariants(CHECKOUT, variants as unknown as VariantInput[]),
      );
    });

    it('is one fact, and none when nothing changes', async () => {
      const flags = await checkoutIn(start);
      expect(await factsOf(flags, () => flags.setVariants(CHECKOUT, []))).toEqual([]);
      expect(await factsOf(flags, () => flags.setVariants(CHECKOUT, [BLUE, GREEN]))).toEqual(['variants-updated']);
      expect(await factsOf(flags, () => flags.setVariants(CHECKOUT, [BLUE, GREEN]))).toEqual([]);
      expect(await factsOf(flags, () => flags.setVariants(CHECKOUT, []))).toEqual(['variants-updated']);
    });

    it('refuses an unknown flag', async () => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, 'flag_not_found', () => flags.setVariants({ ...DEFAULT, flag: 'none' }, []));
      await expectRefusal(flags, 'project_not_found', () =>
        flags.setVariants({ project: 'none', flag: 'checkout' }, []),
      );
    });
  });

  describe('patching variants', () => {
    it('applies operations by index in the order given and weighs the result', async () => {
      const flags = await checkoutIn(start);
      await flags.setVariants(CHECKOUT, [BLUE, GREEN]);
      await flags.patchVariants(CHECKOUT, [{ op: 'add', path: '/1', value: { name: 'red' } }]);
      expect(await weightsIn(flags)).toEqual([
        ['blue', 100],
        ['red', 450],
        ['green', 450],
      ]);
      await flags.patchVariants(CHECKOUT, [
        { op: 'replace', path: '/0/weight', value: 200 },
        { op: 'remove', path: '/2' },
      ]);
      expect(await weightsIn(flags)).toEqual([
        ['blue', 200],
        ['red', 800],
      ]);
      await flags.patchVariants(CHECKOUT, [{ op: 'move', from: '/1', path: '/0' }]);
      expect(await weightsIn(flags)).toEqual([
        ['red', 800],
        ['blue', 200],
      ]);
    });

    it('clears the variants when none is left', async () => {
      const flags = await checkoutIn(start);
      await flags.setVariants(CHECKOUT, [GREEN]);
      expect(await flags.patchVariants(CHECKOUT, [{ op: 'remove', path: '/0' }])).toEqual([]);
    });

    it.each([
      [{ op: 'add', path: '/3', value: { name: 'red' } }],
      [{ op: 'replace', path: '/2', value: { name: 'red' } }],
      [{ op: 'remove', path: '/2' }],
      [{ op: 'remove', path: '/-' }],
      [{ op: 'remove', path: '/00' }],
      [{ op: 'add', path: '/01', value: { name: 'red' } }],
      [{ op: 'add', path: '/-1', value: { name: 'red' } }],
      [{ op: 'add', path: '/1e0', value: { name: 'red' } }],
      [{ op: 'remove', path: '/1' }],
      [{ op: 'remove', path: '/length' }],
      [{ op: 'add', path: '/-', value: { name: 'green' } }],
      [{ op: 'add', path: '/-', value: { name: 'red', color: 'red' } }],
      [{ op: 'replace', path: '/0/weight', value: 1000 }],
      [{ op: 'replace', path: '', value: {} }],
      [{ op: 'add', path: '/__proto__/polluted', value: true }],
      [{ op: 'replace', path: '/0/toString', value: 'x' }],
    ])('refuses %j', async (operation) => {
      const flags = await checkoutIn(start);
      await flags.setVariants(CHECKOUT, [BLUE, GREEN]);
      const before = await flags.getFlag(CHECKOUT);
      const attempt = flags.patchVariants(CHECKOUT, [operation] as unknown as JsonPatch);
      await expect(attempt).rejects.toMatchObject({ code: expect.stringMatching(/^invalid_(patch|input)$/) });
      expect(await flags.getFlag(CHECKOUT)).toEqual(before);
    });

    it('refuses when a test fails, and applies nothing', async () => {
      const flags = await checkoutIn(start);
      await flags.setVariants(CHECKOUT, [BLUE, GREEN]);
      await expectRefusal(flags, 'patch_test_failed', () =>
        flags.patchVariants(CHECKOUT, [
          { op: 'replace', path: '/0/weight', value: 5 },
          { op: 'test', path: '/1/name', value: 'red' },
        ]),
      );
    });

    it('applies simultaneous patches one after the other', async () => {
      const flags = await checkoutIn(start);
      const names = Array.from({ length: 10 }, (_, n) => `variant-${n}`);
      await Promise.all(
        names.map((name) => flags.patchVariants(CHECKOUT, [{ op: 'add', path: '/-', value: { name } }])),
      );
      expect((await weightsIn(flags)).map(([name]) => name).sort()).toEqual(names);
    });
  });
});
