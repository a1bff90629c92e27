import type { Flags, JsonPatch } from '../../src/index.js';
import { factsOf } from './facts.js';
import { onEveryStorage, type Start } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from './references.js';
import { expectRefusal } from './refusal.js';

const ROLLOUT = { rollout: 25, groupId: 'checkout', stickiness: 'default' };
const CONSTRAINT = { contextName: 'userId', operator: 'IN', values: ['7', '8'] } as const;

async function patchable(start: Start) {
  const flags = await start();
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  const input = { name: 'flexibleRollout', parameters: ROLLOUT, constraints: [CONSTRAINT] };
  const { id } = await flags.addStrategy(PRODUCTION, input);
  const patch = (operations: JsonPatch) => flags.patchStrategy({ ...PRODUCTION, strategy: id }, operations);
  return { flags, id, patch };
}

async function storedIn(flags: Flags) {
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

    it('silently keeps the id', async () => {
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
