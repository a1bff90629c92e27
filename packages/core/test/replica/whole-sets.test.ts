import { createFlags, memoryStorage } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import type { Storage } from '../../src/storage/port.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { SILENT } from './silent.js';
import { expectWholeSets } from './whole-sets.js';

describe('another node', () => {
  it('never evaluates half a change set, on one SQLite file', async () => {
    const directory = temporaryDirectory();
    await expectWholeSets(() => sqliteStorage(`${directory.path}/flags.db`));
    directory.remove();
  });

  it('never evaluates half a change set, on one storage of its process', async () => {
    const shared = memoryStorage();
    await expectWholeSets(() => ({ ...shared, close: async () => undefined }));
  });

  it('never stops within a change set that is longer than a page of the feed', async () => {
    const shared: Storage = { ...memoryStorage(), close: async () => undefined };
    const writer = await createFlags({ ...SILENT, storage: shared });
    const reader = await createFlags({ ...SILENT, storage: shared });
    const names = Array.from({ length: 1_300 }, (_, index) => `flag-${index}`);
    const states = names.map((name) => ({
      ...{ name, project: 'default', description: '', type: 'release', stale: false, impressionData: false },
      ...{ archived: false, createdAt: '2026-01-01T00:00:00.000Z', variants: [], environments: [] },
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
