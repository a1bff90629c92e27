import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { databaseOfEachTest } from './database-file.js';
import { runToEnd } from './server-process.js';

const database = databaseOfEachTest();

describe('a server that cannot start', () => {
  it.each([
    ['PORT', { PORT: 'http' }],
    ['FLAGS_AUTH', { FLAGS_AUTH: 'basic' }],
    ['FLAGS_ADMIN_TOKEN', { FLAGS_ADMIN_TOKEN: 'two words' }],
    ['HOST', { HOST: '192.0.2.1' }],
  ])('says in one line that %s is to be put right', async (variable, environment) => {
    await expectOneLine(variable, { FLAGS_DB: ':memory:', ...environment });
  });

  it('says in one line that the database is in a directory that does not exist', async () => {
    await expectOneLine('FLAGS_DB', { FLAGS_DB: join(database.directory, 'missing', 'flags.db') });
  });

  it('says in one line that the database is another kind of file', async () => {
    const notes = join(database.directory, 'notes.txt');
    await writeFile(
      notes,
      'This is not a database, and long enough that nobody could take it for an empty one.\n'.repeat(20),
    );
    await expectOneLine('FLAGS_DB', { FLAGS_DB: notes });
  });

  it('says in one line that the port is in use', async () => {
    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const { port } = occupant.address() as AddressInfo;
    await expectOneLine('PORT', { FLAGS_DB: ':memory:', PORT: String(port) });
    occupant.close();
  });
});

async function expectOneLine(variable: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const { code, printed } = await runToEnd(environment);
  expect(printed.trimEnd().split('\n')).toEqual([expect.stringMatching(new RegExp(`^${variable}[: ].{20,}`))]);
  expect(code).toBe(1);
}
