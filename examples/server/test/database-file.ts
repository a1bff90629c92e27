import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAll } from './server-process.js';

/** The database file of the running test. */
export interface DatabaseFile {
  readonly path: string;
  /** Its directory. */
  readonly directory: string;
}

/** Creates a database for every test of a file. Afterwards ends its servers and removes it. */
export function databaseOfEachTest(): DatabaseFile {
  let directory = '';

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'flags-server-'));
  });

  afterEach(async () => {
    await endAll();
    await rm(directory, { recursive: true, force: true });
  });

  return {
    get path() {
      return join(directory, 'flags.db');
    },
    get directory() {
      return directory;
    },
  };
}
