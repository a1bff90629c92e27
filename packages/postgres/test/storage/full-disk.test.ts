import { randomBytes } from 'node:crypto';
import type { FlagsStorage } from '@flags/core';
import { extent } from '../../../../test/extent.js';
import { postgresStorage } from '../../src/index.js';
import { ownServer } from '../own-database.js';
import { change, flag, subjectsAfter } from '../samples.js';
import { mountSmallDisk, type SmallDisk } from './small-disk.js';

/** Mounting needs root. */
const isWanted = extent({ short: false, full: true });
const mountable = isWanted && canMount();

function canMount(): boolean {
  const disk = mountSmallDisk(__dirname);
  disk?.remove();
  return disk !== undefined;
}

if (!mountable) {
  it.skip(`tests a full disk ${isWanted ? 'where one can be mounted' : 'in the full run'}`, () => undefined);
} else {
  describe('a database whose disk gets full', () => {
    const database = ownServer();
    let disk: SmallDisk | undefined;
    let storage: FlagsStorage;

    beforeAll(async () => {
      disk = mountSmallDisk(new URL(database.url()).searchParams.get('host') ?? '');
      await database.ask(`CREATE TABLESPACE small LOCATION '${disk?.path}'`);
      await database.ask('CREATE DATABASE small TABLESPACE small');
      storage = await postgresStorage({ connectionString: database.server().url('small'), listen: false });
    });
    afterAll(async () => {
      await storage.close();
      // Hooks run in their order: the server, which has files there, has ended.
      disk?.remove();
    });

    /** With a body that does not compress. */
    const commit = async (id: string) =>
      storage.commit({
        ...change(id),
        writes: [
          { key: flag(id), expected: 0, parent: null, body: randomBytes(500_000).toString('base64'), summary: null },
        ],
      });

    it('refuses changes without room, leaves nothing of them, is still readable, and accepts changes when there is room', async () => {
      const acknowledged: string[] = [];
      const filled = (async () => {
        for (;;) {
          const id = `flag-${acknowledged.length}`;
          await commit(id);
          acknowledged.push(id);
        }
      })();
      await expect(filled).rejects.toMatchObject({ code: 'storage_unavailable', cause: { code: '53100' } });
      const refused = `flag-${acknowledged.length}`;
      expect(acknowledged.length).toBeGreaterThan(2);
      expect(await storage.get(flag(refused))).toBeUndefined();
      expect((await storage.get(flag('flag-0')))?.revision).toBe(1);
      expect(await subjectsAfter(storage)).toEqual(acknowledged);
      disk?.relieve();
      expect(await commit(refused)).toEqual({ ok: true, revisions: [1] });
      expect(await subjectsAfter(storage)).toEqual([...acknowledged, refused]);
    });
  });
}
