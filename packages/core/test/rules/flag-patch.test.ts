import type { Flags, JsonPatch } from '../../src/index.js';
import { factsOf } from './facts.js';
import { onEveryStorage, type Start } from './on-every-storage.js';
import { CHECKOUT, DEFAULT } from './references.js';
import { expectRefusal } from './refusal.js';

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
      expect(await flags.patchFlag(CHECKOUT, [operation])).toMatchObject(expected);
      expect(await flags.getFlag(CHECKOUT)).toMatchObject(expected);
    });

    it('applies operations one after the other', async () => {
      const flags = await checkoutIn(start);
      const patched = await flags.patchFlag(CHECKOUT, [
        { op: 'replace', path: '/description', value: 'kill-switch' },
        { op: 'test', path: '/description', value: 'kill-switch' },
        { op: 'copy', from: '/description', path: '/type' },
      ]);
      expect(patched).toMatchObject({ description: 'kill-switch', type: 'kill-switch' });
    });

    it.each(['/name', '/project', '/createdAt', '/lastSeen', '/lastSeenAt'])('silently keeps %s', async (path) => {
      const flags = await checkoutIn(start);
      const before = await flags.getFlag(CHECKOUT);
      expect(await factsOf(flags, () => flags.patchFlag(CHECKOUT, [{ op: 'replace', path, value: 'x' }]))).toEqual([]);
      expect(await flags.getFlag(CHECKOUT)).toEqual(before);
    });

    it('changes nothing and records nothing for an empty patch', async () => {
      const flags = await checkoutIn(start);
      expect(await factsOf(flags, () => flags.patchFlag(CHECKOUT, []))).toEqual([]);
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
      const attempt = flags.patchFlag(CHECKOUT, [operation] as unknown as JsonPatch);
      await expect(attempt).rejects.toMatchObject({ code: expect.stringMatching(/^invalid_(patch|input)$/) });
      expect(await flags.getFlag(CHECKOUT)).toEqual(before);
      expect(Object.prototype).not.toHaveProperty('polluted');
    });

    it.each([{}, null, 'replace', { op: 'replace', path: '/description', value: 'x' }])(
      'refuses %j, which is not a list of operations',
      async (patch) => {
        const flags = await checkoutIn(start);
        const attempt = flags.patchFlag(CHECKOUT, patch as unknown as JsonPatch);
        await expect(attempt).rejects.toMatchObject({ code: expect.stringMatching(/^invalid_(patch|input)$/) });
      },
    );

    it('applies no operation when one is refused', async () => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, 'invalid_patch', () =>
        flags.patchFlag(CHECKOUT, [
          { op: 'replace', path: '/description', value: 'New' },
          { op: 'remove', path: '/nowhere' },
        ]),
      );
    });

    it('applies no operation when a test fails', async () => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, 'patch_test_failed', () =>
        flags.patchFlag(CHECKOUT, [
          { op: 'replace', path: '/stale', value: true },
          { op: 'test', path: '/description', value: 'Other' },
        ]),
      );
    });

    it('compares tested values by type', async () => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, 'patch_test_failed', () =>
        flags.patchFlag(CHECKOUT, [{ op: 'test', path: '/stale', value: 0 }]),
      );
    });

    it('lets simultaneous patches of different members both take effect', async () => {
      const flags = await checkoutIn(start);
      await Promise.all([
        flags.patchFlag(CHECKOUT, [{ op: 'replace', path: '/stale', value: true }]),
        flags.patchFlag(CHECKOUT, [{ op: 'replace', path: '/description', value: 'New' }]),
        flags.patchFlag(CHECKOUT, [{ op: 'replace', path: '/type', value: 'permission' }]),
      ]);
      expect(await flags.getFlag(CHECKOUT)).toMatchObject({ stale: true, description: 'New', type: 'permission' });
    });

    it('refuses an unknown flag', async () => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, 'flag_not_found', () => flags.patchFlag({ ...DEFAULT, flag: 'constructor' }, []));
      await expectRefusal(flags, 'project_not_found', () => flags.patchFlag({ project: 'x', flag: 'checkout' }, []));
    });
  });
});
