import { join } from 'node:path';
import { createFlags, type Flags } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { onEveryStorage } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from './references.js';
import { expectRefusal } from './refusal.js';

const TEXT = 'x'.repeat(5000);

async function full(flags: Flags): Promise<Flags> {
  await flags.createFlag(DEFAULT, { name: 'checkout', description: TEXT });
  await flags.addStrategy(PRODUCTION, { name: 'default' });
  await flags.createFlag(DEFAULT, { name: 'other', description: TEXT });
  return flags;
}

onEveryStorage((start) => {
  describe('a limit of all definitions', () => {
    it('refuses every change that would exceed it', async () => {
      const flags = await full(await start({ stateLimit: 12_000 }));
      const constraints = [{ contextName: 'userId', operator: 'IN', values: [TEXT] }] as const;
      const attempts = [
        () => flags.createFlag(DEFAULT, { name: 'third', description: TEXT }),
        () => flags.cloneFlag(CHECKOUT, { name: 'copy' }),
        () => flags.addStrategy(PRODUCTION, { name: 'default', constraints }),
        () => flags.createSegment({ name: 'beta', constraints }),
      ];
      for (const attempt of attempts) {
        const { message } = await expectRefusal(flags, 'state_too_large', attempt);
        expect(message).toMatch(/would take \d+ bytes, and stateLimit is 12000; delete/);
      }
    });

    it('permits every document to shrink, to be disabled, archived and deleted, and then others to grow', async () => {
      const flags = await full(await start({ stateLimit: 11_000 }));
      await expectRefusal(flags, 'state_too_large', () =>
        flags.createProject({ id: 'shop', name: 'S', description: 'x'.repeat(1000) }),
      );
      await flags.enable(PRODUCTION);
      await flags.disable(PRODUCTION);
      await flags.archiveFlag(CHECKOUT);
      await expectRefusal(flags, 'state_too_large', () =>
        flags.createFlag(DEFAULT, { name: 'third', description: TEXT }),
      );
      await flags.deleteFlag({ flag: 'checkout' });
      await flags.createFlag(DEFAULT, { name: 'third', description: TEXT });
      await flags.updateFlag({ ...DEFAULT, flag: 'third' }, { description: '' });
      await flags.createFlag(DEFAULT, { name: 'fourth', description: TEXT.slice(500) });
    });

    it('is not exceeded by simultaneous creations', async () => {
      const flags = await start({ stateLimit: 20_000 });
      const names = Array.from({ length: 20 }, (_, n) => `flag-${n}`);
      const create = (name: string) => flags.createFlag(DEFAULT, { name, description: TEXT });
      const outcomes = await Promise.allSettled(names.map(create));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
      expect(await flags.listFlags(DEFAULT)).toHaveLength(3);
    });
  });
});

describe('a limit of all definitions on a shared file', () => {
  it('counts what is there at the start, and what others write', async () => {
    const directory = temporaryDirectory();
    const open = () =>
      createFlags({ storage: sqliteStorage(join(directory.path, 'flags.db')), stateLimit: 12_000, pollInterval: 0 });
    const one = await full(await open());
    const other = await open();
    await expectRefusal(other, 'state_too_large', () =>
      other.createFlag(DEFAULT, { name: 'third', description: TEXT }),
    );
    await one.archiveFlag(CHECKOUT);
    await one.deleteFlag({ flag: 'checkout' });
    await one.updateProject(DEFAULT, { description: 'x'.repeat(1000) });
    await other.refresh();
    await expectRefusal(other, 'state_too_large', () =>
      other.createFlag(DEFAULT, { name: 'third', description: `${TEXT}${TEXT.slice(0, 700)}` }),
    );
    await other.createFlag(DEFAULT, { name: 'third', description: TEXT });
    await Promise.all([one.close(), other.close()]);
    directory.remove();
  });

  it.each([0, -1, 1.5, '1 MiB'])('is refused as an option when it is %j', async (stateLimit) => {
    const opening = createFlags({ storage: sqliteStorage(':memory:'), stateLimit: stateLimit as number });
    await expect(opening).rejects.toMatchObject({ code: 'invalid_input', details: [{ path: '/stateLimit' }] });
  });
});
