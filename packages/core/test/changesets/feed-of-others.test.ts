import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { until } from '../../../../test/until.js';
import { createFlags } from '../../src/create-flags.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { hearing } from './listening.js';

const DEFAULT = { project: 'default' };

describe('a subscription to a storage with other writers', () => {
  it('sends commits of another instance to the same SQLite file', async () => {
    const directory = temporaryDirectory();
    const path = join(directory.path, 'flags.db');
    const reader = await createFlags({ storage: sqliteStorage(path), pollInterval: 5 });
    const writer = await createFlags({ storage: sqliteStorage(path) });
    const { heard, listener } = hearing();
    reader.subscribe(listener);
    const [last] = (await reader.listEvents()).events;
    expect(last?.type).toBe('project-created');
    // A change of the reader's own waits until the subscription knows where to begin.
    await reader.createFlag(DEFAULT, { name: 'own' });
    for (const name of ['a', 'b']) await writer.createFlag(DEFAULT, { name });
    await until(() => heard.length >= 3);
    expect(heard).toEqual(['own', 'a', 'b']);
    await reader.close();
    await writer.close();
    directory.remove();
  });

  it('keeps no process alive', () => {
    const program = `
      const { createFlags, memoryStorage } = require(${JSON.stringify(join(__dirname, '../../cjs/index.js'))});
      createFlags({ storage: memoryStorage(), pollInterval: 10 }).then((flags) => {
        flags.subscribe(() => undefined);
        console.log('subscribed');
      });
    `;
    const { stdout, status } = spawnSync(process.execPath, ['-e', program], { timeout: 60_000, encoding: 'utf8' });
    expect([stdout.trim(), status]).toEqual(['subscribed', 0]);
  }, 60_000);
});
