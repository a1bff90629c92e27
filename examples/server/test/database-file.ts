import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAll } from './server-process.js';

/** Where the test that is running has its database. */
export interface DatabaseFile {
  readonly path: string;
  /** The directory of its own that it is in. */
  readonly directory: string;
}

/** Gives every test of a file another database, and afterwards ends its servers and removes it. */
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
