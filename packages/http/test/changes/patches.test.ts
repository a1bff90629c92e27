import type { FlagRef, Flags, StrategyRef, VariantInput } from '@flags/core';
import { memoryStorage, openFlags } from '@flags/core';
import { isWithin } from '../../../../test/processor-time.js';
import { factsOf } from '../../../core/test/facts.js';
import { onEveryStorage, type Start } from '../../../core/test/on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../../../core/test/references.js';
import { expectRefusal } from '../../../core/test/refusal.js';
import type { JsonPatch } from '../../src/changes/json-patch.js';
import * as patches from '../../src/features/flags/patches.js';

const patchFlag = (flags: Flags, ref: FlagRef, patch: unknown) => patches.patchFlag(flags, { ref, patch, context: {} });
const patchStrategy = async (flags: Flags, ref: StrategyRef, patch: unknown) =>
  (await patches.patchStrategy(flags, { ref, patch, context: {} })).result;
const patchVariants = async (flags: Flags, ref: FlagRef, patch: unknown) =>
  (await patches.patchVariants(flags, { ref, patch, context: {} })).result;

async function checkoutIn(start: Start): Promise<Flags> {
  const flags = await start();
  await flags.createFlag(DEFAULT, { name: 'checkout', description: 'Old' });
  return flags;
}

onEveryStorage((start) => {
  describe('patching a flag', () => {
    it.each([
      [{ op: 'replace', path: '/description', value: 'New' }, { description: 'New' }],
      [{ op: 'add', path: '/description', value: 'New' }, { description: 'New' }],
      [{ op: 'replace', path: '/description', value: null }, { description: null }],
      [{ op: 'replace', path: '/type', value: 'permission' }, { type: 'permission' }],
      [{ op: 'replace', path: '/stale', value: true }, { stale: true }],
      [{ op: 'replace', path: '/impressionData', value: true }, { impressionData: true }],
      [{ op: 'copy', from: '/type', path: '/description' }, { description: 'release' }],
      [{ op: 'test', path: '/description', value: 'Old' }, { description: 'Old' }],
    ] as const)('applies %j', async (operation, expected) => {
      const flags = await checkoutIn(start);
      expect(await patchFlag(flags, CHECKOUT, [operation])).toMatchObject(expected);
      expect(await flags.getFlag(CHECKOUT)).toMatchObject(expected);
    });

    it('applies operations one after the other', async () => {
      const flags = await checkoutIn(start);
      const patched = await patchFlag(flags, CHECKOUT, [
        { op: 'replace', path: '/description', value: 'kill-switch' },
        { op: 'test', path: '/description', value: 'kill-switch' },
        { op: 'copy', from: '/description', path: '/type' },
      ]);
      expect(patched).toMatchObject({ description: 'kill-switch', type: 'kill-switch' });
    });

    it.each(['/name', '/project', '/createdAt', '/lastSeen', '/lastSeenAt'])('silently keeps %s', async (path) => {
      const flags = await checkoutIn(start);
      const before = await flags.getFlag(CHECKOUT);
      expect(await factsOf(flags, () => patchFlag(flags, CHECKOUT, [{ op: 'replace', path, value: 'x' }]))).toEqual([]);
      expect(await flags.getFlag(CHECKOUT)).toEqual(before);
    });

    it('changes nothing and records nothing for an empty patch', async () => {
      const flags = await checkoutIn(start);
      expect(await factsOf(flags, () => patchFlag(flags, CHECKOUT, []))).toEqual([]);
    });

    it.each([
      [{ op: 'replace', path: '/archived', value: true }],
      [{ op: 'replace', path: '/variants', value: [] }],
      [{ op: 'replace', path: '/environments', value: [] }],
      [{ op: 'replace', path: '/revision', value: 9 }],
      [{ op: 'replace', path: '', value: {} }],
      [{ op: 'replace', path: '/toString', value: 'x' }],
      [{ op: 'add', path: '/__proto__/polluted', value: true }],
      [{ op: 'add', path: '/constructor/prototype/polluted', value: true }],
      [{ op: 'replace', path: '/description/0', value: 'x' }],
      [{ op: 'replace', path: 'description', value: 'x' }],
      [{ op: 'replace', path: '/descr~2iption', value: 'x' }],
      [{ op: 'replace', path: '/type', value: 'other' }],
      [{ op: 'replace', path: '/stale', value: 'true' }],
      [{ op: 'replace', path: '/description', value: 5 }],
      [{ op: 'replace', path: '/description' }],
      [{ op: 'move', path: '/description' }],
      [{ op: 'copy', from: '/toString', path: '/description' }],
      [{ op: 'copy', from: '/nowhere', path: '/description' }],
      [{ op: 'remove', path: '/nowhere' }],
      [{ op: 'increase', path: '/description', value: 1 }],
      [{ op: '_get', path: '/description' }],
      [{ path: '/description', value: 'x' }],
      [null],
      ['replace'],
    ])('refuses %j', async (operation) => {
      const flags = await checkoutIn(start);
      const before = await flags.getFlag(CHECKOUT);
      const attempt = patchFlag(flags, CHECKOUT, [operation] as unknown as JsonPatch);
      await expect(attempt).rejects.toMatchObject({ code: expect.stringMatching(/^invalid_(patch|input)$/) });
      expect(await flags.getFlag(CHECKOUT)).toEqual(before);
      expect(Object.prototype).not.toHaveProperty('polluted');
    });

    it.each([{}, null, 'replace', { op: 'replace', path: '/description', value: 'x' }])(
      'refuses %j, which is not a list of operations',
      async (patch) => {
        const flags = await checkoutIn(start);
        const attempt = patchFlag(flags, CHECKOUT, patch as unknown as JsonPatch);
        await expect(attempt).rejects.toMatchObject({ code: expect.stringMatching(/^invalid_(patch|input)$/) });
      },
    );

    it('applies no operation when one is refused', async () => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, 'invalid_patch', () =>
        patchFlag(flags, CHECKOUT, [
          { op: 'replace', path: '/description', value: 'New' },
          { op: 'remove', path: '/nowhere' },
        ]),
      );
    });

    it('applies no operation when a test fails', async () => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, 'patch_test_failed', () =>
        patchFlag(flags, CHECKOUT, [
          { op: 'replace', path: '/stale', value: true },
          { op: 'test', path: '/description', value: 'Other' },
        ]),
      );
    });

    it('compares tested values by type', async () => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, 'patch_test_failed', () =>
        patchFlag(flags, CHECKOUT, [{ op: 'test', path: '/stale', value: 0 }]),
      );
    });

    it('lets simultaneous patches of different members both take effect', async () => {
      const flags = await checkoutIn(start);
      await Promise.all([
        patchFlag(flags, CHECKOUT, [{ op: 'replace', path: '/stale', value: true }]),
        patchFlag(flags, CHECKOUT, [{ op: 'replace', path: '/description', value: 'New' }]),
        patchFlag(flags, CHECKOUT, [{ op: 'replace', path: '/type', value: 'permission' }]),
      ]);
      expect(await flags.getFlag(CHECKOUT)).toMatchObject({ stale: true, description: 'New', type: 'permission' });
    });

    it('refuses an unknown flag', async () => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, 'flag_not_found', () => patchFlag(flags, { ...DEFAULT, flag: 'constructor' }, []));
      await expectRefusal(flags, 'project_not_found', () => patchFlag(flags, { project: 'x', flag: 'checkout' }, []));
    });
  });
});

const ROLLOUT = { rollout: 25, groupId: 'checkout', stickiness: 'default' };
const CONSTRAINT = { contextName: 'userId', operator: 'IN', values: ['7', '8'] } as const;

async function patchable(start: Start) {
  const flags = await start();
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  const input = { name: 'flexibleRollout', parameters: ROLLOUT, constraints: [CONSTRAINT] };
  const { id } = await flags.addStrategy(PRODUCTION, input);
  const patch = (operations: JsonPatch) => patchStrategy(flags, { ...PRODUCTION, strategy: id }, operations);
  return { flags, id, patch };
}

async function storedIn(flags: Flags<string>) {
  return (await flags.getFlag(CHECKOUT)).environments[1]?.strategies[0];
}

onEveryStorage((start) => {
  describe('patching a strategy', () => {
    it.each([
      [{ op: 'replace', path: '/parameters/rollout', value: 50 }, { parameters: { ...ROLLOUT, rollout: 50 } }],
      [{ op: 'replace', path: '/parameters/rollout', value: '50' }, { parameters: { ...ROLLOUT, rollout: '50' } }],
      [{ op: 'add', path: '/parameters/note', value: 'x' }, { parameters: { ...ROLLOUT, note: 'x' } }],
      [{ op: 'add', path: '/parameters/a~1b~0c', value: 1 }, { parameters: { ...ROLLOUT, 'a/b~c': 1 } }],
      [{ op: 'remove', path: '/parameters/groupId' }, { parameters: { rollout: 25, stickiness: 'default' } }],
      [{ op: 'replace', path: '/name', value: 'own' }, { name: 'own' }],
      [{ op: 'replace', path: '/constraints', value: [] }, { constraints: [] }],
      [{ op: 'replace', path: '/constraints/0/values/1', value: '9' }, { constraints: [{ values: ['7', '9'] }] }],
      [{ op: 'add', path: '/constraints/0/values/-', value: '9' }, { constraints: [{ values: ['7', '8', '9'] }] }],
      [{ op: 'remove', path: '/constraints/0' }, { constraints: [] }],
      [{ op: 'add', path: '/title', value: 'Half' }, { title: 'Half' }],
      [{ op: 'add', path: '/disabled', value: true }, { disabled: true }],
      [{ op: 'add', path: '/sortOrder', value: 2 }, { sortOrder: 2 }],
    ] as const)('applies %j', async (operation, expected) => {
      const { flags, patch, id } = await patchable(start);
      const patched = await patch([operation as JsonPatch[number]]);
      expect(patched).toMatchObject({ id, ...expected });
      expect(await storedIn(flags)).toEqual(patched);
    });

    it('ignores changes of the id', async () => {
      const { flags, patch, id } = await patchable(start);
      expect(await factsOf(flags, () => patch([{ op: 'replace', path: '/id', value: 'other' }]))).toEqual([]);
      expect(await storedIn(flags)).toMatchObject({ id });
    });

    it.each([
      [{ op: 'replace', path: '/parameters/rollout', value: 101 }],
      [{ op: 'replace', path: '/parameters/rollout', value: 'half' }],
      [{ op: 'replace', path: '/parameters', value: [] }],
      [{ op: 'add', path: '/parameters/deep', value: {} }],
      [{ op: 'replace', path: '/parameters/none', value: 1 }],
      [{ op: 'replace', path: '/parameters/toString', value: 1 }],
      [{ op: 'remove', path: '/parameters/constructor' }],
      [{ op: 'replace', path: '/constraints/00/values', value: [] }],
      [{ op: 'replace', path: '/constraints/1', value: CONSTRAINT }],
      [{ op: 'add', path: '/constraints/2', value: CONSTRAINT }],
      [{ op: 'add', path: '/constraints/-', value: {} }],
      [{ op: 'add', path: '/constraints/0/other', value: 1 }],
      [{ op: 'replace', path: '/constraints/0/operator', value: 'LIKE' }],
      [{ op: 'remove', path: '/name' }],
      [{ op: 'replace', path: '/name', value: '' }],
      [{ op: 'add', path: '/__proto__/polluted', value: true }],
      [{ op: 'add', path: '/other', value: true }],
      [{ op: 'replace', path: '', value: { name: 'own' } }],
      [{ op: 'replace', path: '/parameters~', value: {} }],
    ])('refuses %j', async (operation) => {
      const { flags, patch } = await patchable(start);
      const before = await storedIn(flags);
      const attempt = patch([operation] as unknown as JsonPatch);
      await expect(attempt).rejects.toMatchObject({ code: expect.stringMatching(/^invalid_(patch|input)$/) });
      expect(await storedIn(flags)).toEqual(before);
      expect(Object.prototype).not.toHaveProperty('polluted');
    });

    it('refuses when a test fails', async () => {
      const { flags, patch } = await patchable(start);
      await expectRefusal(flags, 'patch_test_failed', () =>
        patch([
          { op: 'replace', path: '/name', value: 'own' },
          { op: 'test', path: '/parameters/rollout', value: '25' },
        ]),
      );
    });

    it('lets simultaneous patches of different members both take effect', async () => {
      const { flags, patch } = await patchable(start);
      await Promise.all([
        patch([{ op: 'replace', path: '/parameters/rollout', value: 75 }]),
        patch([{ op: 'replace', path: '/parameters/groupId', value: 'mine' }]),
        patch([{ op: 'add', path: '/title', value: 'Both' }]),
      ]);
      expect(await storedIn(flags)).toMatchObject({ parameters: { rollout: 75, groupId: 'mine' }, title: 'Both' });
    });
  });
});

const BLUE: VariantInput = { name: 'blue', weightType: 'fix', weight: 100 };
const GREEN: VariantInput = { name: 'green' };

async function weightsIn(flags: Flags): Promise<readonly [string, number][]> {
  return (await flags.getFlag(CHECKOUT)).variants.map(({ name, weight }) => [name, weight]);
}

onEveryStorage((start) => {
  describe('patching variants', () => {
    it('takes weights without a type for shares', async () => {
      const flags = await checkoutIn(start);
      const shares = [
        { name: 'a', weight: 300 },
        { name: 'b', weight: 700 },
      ];
      await patchVariants(flags, CHECKOUT, [{ op: 'replace', path: '', value: shares }]);
      const { variants } = await flags.getFlag(CHECKOUT);
      expect(variants.map(({ weightType, weight }) => `${weightType} ${weight}`)).toEqual(['fix 300', 'variable 700']);
    });

    it('applies operations by index in the given order and computes the weights of the result', async () => {
      const flags = await checkoutIn(start);
      await flags.setVariants(CHECKOUT, [BLUE, GREEN]);
      await patchVariants(flags, CHECKOUT, [{ op: 'add', path: '/1', value: { name: 'red' } }]);
      expect(await weightsIn(flags)).toEqual([
        ['blue', 100],
        ['red', 450],
        ['green', 450],
      ]);
      await patchVariants(flags, CHECKOUT, [
        { op: 'replace', path: '/0/weight', value: 200 },
        { op: 'remove', path: '/2' },
      ]);
      expect(await weightsIn(flags)).toEqual([
        ['blue', 200],
        ['red', 800],
      ]);
      await patchVariants(flags, CHECKOUT, [{ op: 'move', from: '/1', path: '/0' }]);
      expect(await weightsIn(flags)).toEqual([
        ['red', 800],
        ['blue', 200],
      ]);
    });

    it('clears the variants when none is left', async () => {
      const flags = await checkoutIn(start);
      await flags.setVariants(CHECKOUT, [GREEN]);
      expect(await patchVariants(flags, CHECKOUT, [{ op: 'remove', path: '/0' }])).toEqual([]);
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
      const attempt = patchVariants(flags, CHECKOUT, [operation] as unknown as JsonPatch);
      await expect(attempt).rejects.toMatchObject({ code: expect.stringMatching(/^invalid_(patch|input)$/) });
      expect(await flags.getFlag(CHECKOUT)).toEqual(before);
    });

    it('refuses when a test fails, and applies nothing', async () => {
      const flags = await checkoutIn(start);
      await flags.setVariants(CHECKOUT, [BLUE, GREEN]);
      await expectRefusal(flags, 'patch_test_failed', () =>
        patchVariants(flags, CHECKOUT, [
          { op: 'replace', path: '/0/weight', value: 5 },
          { op: 'test', path: '/1/name', value: 'red' },
        ]),
      );
    });

    it('applies simultaneous patches one after the other', async () => {
      const flags = await checkoutIn(start);
      const names = Array.from({ length: 10 }, (_, n) => `variant-${n}`);
      await Promise.all(
        names.map((name) => patchVariants(flags, CHECKOUT, [{ op: 'add', path: '/-', value: { name } }])),
      );
      expect((await weightsIn(flags)).map(([name]) => name).sort()).toEqual(names);
    });
  });
});

describe('a patch of a document of 1 MiB', () => {
  const many = <T>(length: number, item: T) => Array.from({ length }, () => item);
  const LIST = '/constraints/0/values';

  /** Constraints of 250,000 values: a document of 1 MiB. */
  const CONSTRAINTS = many(5, { contextName: 'userId', operator: 'IN', values: many(49_999, 'a') } as const);

  async function withLargeStrategy(): Promise<{ flags: Flags; ref: typeof PRODUCTION & { strategy: string } }> {
    const flags = await openFlags({ storage: memoryStorage() });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    const { id } = await flags.addStrategy(PRODUCTION, { name: 'default', constraints: CONSTRAINTS });
    return { flags, ref: { ...PRODUCTION, strategy: id } };
  }

  it.each<[string, readonly object[]]>([
    ['one small change', [{ op: 'add', path: '/title', value: 'x' }]],
    ['a thousand moves', many(1000, { op: 'move', from: `${LIST}/0`, path: `${LIST}/40000` })],
    ['a thousand insertions', many(1000, { op: 'add', path: `${LIST}/0`, value: 'a' })],
    ['copies of everything', many(1000, { op: 'copy', from: '/constraints', path: '/constraints/-' })],
    ['copies to a kept member', many(1000, { op: 'copy', from: '/constraints', path: '/id' })],
    ['a pointer of a million characters', [{ op: 'test', path: `/title${'/a'.repeat(500_000)}`, value: 1 }]],
  ])('takes a fraction of a second for %s', async (_, patch) => {
    const { flags, ref } = await withLargeStrategy();
    const attempt = () => patchStrategy(flags, ref, patch).catch(() => undefined);
    expect(await isWithin(450, attempt)).toBe(true);
    await flags.close();
  });
});

onEveryStorage((start) => {
  describe('a patch', () => {
    it('changes labels and the owner', async () => {
      const flags = await start();
      await flags.createFlag(DEFAULT, { name: 'checkout', labels: ['a', 'b'], owner: 'ada' });
      const patch = [
        { op: 'test', path: '/labels/0', value: 'a' },
        { op: 'remove', path: '/labels/0' },
        { op: 'add', path: '/labels/-', value: 'c' },
        { op: 'add', path: '/owner', value: 'grace' },
      ];
      expect(await patchFlag(flags, CHECKOUT, patch)).toMatchObject({ labels: ['b', 'c'], owner: 'grace' });
    });

    it('is refused for an archived flag, even if it could not be applied', async () => {
      const flags = await checkoutIn(start);
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
      await flags.archiveFlag(CHECKOUT);
      const patch = [{ op: 'remove', path: '/nowhere' }];
      for (const attempt of [
        () => patchFlag(flags, CHECKOUT, patch),
        () => patchStrategy(flags, { ...PRODUCTION, strategy: id }, patch),
        () => patchStrategy(flags, { ...PRODUCTION, strategy: 'none' }, patch),
        () => patchVariants(flags, CHECKOUT, patch),
      ]) {
        await expectRefusal(flags, 'flag_archived', attempt);
      }
    });

    it('finds a strategy in its own flag and environment only', async () => {
      const flags = await checkoutIn(start);
      const { id } = await flags.addStrategy(DEVELOPMENT, { name: 'default' });
      for (const strategy of [id, 'none', '__proto__']) {
        await expectRefusal(flags, 'strategy_not_found', () => patchStrategy(flags, { ...PRODUCTION, strategy }, []));
      }
      await expectRefusal(flags, 'environment_not_found', () =>
        patchStrategy(flags, { ...PRODUCTION, environment: 'nowhere', strategy: id }, []),
      );
    });

    it('compares the revision with the stored one before it is applied', async () => {
      const flags = await checkoutIn(start);
      const patch = [{ op: 'remove', path: '/nowhere' }];
      await expectRefusal(flags, 'revision_mismatch', () =>
        patches.patchFlag(flags, { ref: CHECKOUT, patch, context: { ifRevision: 7 } }),
      );
      const context = { ifRevision: [1, 7] };
      await patches.patchFlag(flags, { ref: CHECKOUT, patch: [{ op: 'add', path: '/stale', value: true }], context });
      expect(await flags.getFlag(CHECKOUT)).toMatchObject({ stale: true, revision: 2 });
    });

    it('returns its first result when its id is repeated, even if it could not be applied any more', async () => {
      const flags = await checkoutIn(start);
      const { id: strategy } = await flags.addStrategy(PRODUCTION, { name: 'default', title: 'Old' });
      const ref = { ...PRODUCTION, strategy };
      const calls = [
        (context: object, patch: unknown = [{ op: 'remove', path: '/title' }]) =>
          patches.patchStrategy(flags, { ref, patch, context }),
        (context: object, patch: unknown = [{ op: 'add', path: '/0', value: { name: 'red' } }]) =>
          patches.patchVariants(flags, { ref, patch, context }),
        (
          context: object,
          patch: unknown = [
            { op: 'test', path: '/stale', value: false },
            { op: 'add', path: '/stale', value: true },
          ],
        ) => patches.patchFlag(flags, { ref, patch, context }),
      ];
      for (const [index, call] of calls.entries()) {
        const id = `00000000-0000-4000-8000-00000000000${index}`;
        const first = await call({ id });
        await flags.updateFlag(CHECKOUT, { description: `later ${index}` });
        expect(await call({ id })).toEqual(first);
        await expectRefusal(flags, 'id_taken', () => call({ id }, []));
        await expectRefusal(flags, 'id_taken', () => call({ id, actor: 'grace' }));
      }
    });

    it('is asked for by its own name', async () => {
      const flags = await checkoutIn(start);
      const asked: unknown[] = [];
      const checked = flags.as('ada', {
        authorize: ({ documents }) => {
          asked.push(...documents.flatMap(({ events }) => events.map(({ op, type }) => [op, type])));
        },
      });
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
      await patchFlag(checked, CHECKOUT, [{ op: 'add', path: '/stale', value: true }]);
      await patchStrategy(checked, { ...PRODUCTION, strategy: id }, [{ op: 'add', path: '/title', value: 'x' }]);
      await patchVariants(checked, CHECKOUT, [{ op: 'add', path: '/-', value: { name: 'red' } }]);
      expect(asked).toEqual([
        ['patchFlag', 'flag-stale-on'],
        ['patchStrategy', 'strategy-updated'],
        ['patchVariants', 'variants-updated'],
      ]);
    });
  });
});

describe('a hostile patch', () => {
  const settled = (attempt: () => Promise<unknown>) => attempt().catch(() => undefined);

  const PLACES = ['__proto__', 'constructor', 'prototype', 'toString'];

  it.each(PLACES)('does not reach a prototype by %s', async (name) => {
    const flags = await openFlags<string>({ storage: memoryStorage() });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.setVariants(CHECKOUT, [BLUE, GREEN]);
    const { id } = await flags.addStrategy(PRODUCTION, { name: 'default', parameters: { a: 'b' } });
    const paths = [`/${name}/polluted`, `/parameters/${name}/polluted`, `/parameters/${name}`, `/${name}`];
    for (const path of [...paths, `/constraints/${name}/polluted`, `/0/${name}/polluted`, `/parameters/a/${name}`]) {
      for (const op of ['add', 'replace', 'test'] as const) {
        const patch = [{ op, path, value: { polluted: 1 } }];
        await settled(() => patchStrategy(flags, { ...PRODUCTION, strategy: id }, patch));
        await settled(() => patchVariants(flags, CHECKOUT, patch));
        await settled(() => patchFlag(flags, CHECKOUT, patch));
      }
      for (const op of ['move', 'copy'] as const) {
        const patch = [{ op, from: '/parameters', path }];
        await settled(() => patchStrategy(flags, { ...PRODUCTION, strategy: id }, patch));
      }
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(([] as { polluted?: unknown }).polluted).toBeUndefined();
    await flags.close();
  });
});
