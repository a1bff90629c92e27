import type { Command } from 'commander';
import { sqliteStorage } from '@flags/core/sqlite';
import { isFile, openFlags, reasonOf } from '../connection.js';
import { CommandError, usageError } from '../errors.js';
import { type CommandIo, createOutput } from '../output.js';
import { type CommonOptions, namesIn } from '../session.js';

/** Adds the commands for a store itself: `migrate` and `backup`. */
export function addStoreCommands(program: Command, io: CommandIo): void {
  program
    .command('migrate')
    .description('create a store, or bring one of an older release up to date')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>();
      const output = createOutput(io, options.json === true);
      const store = storeOf(options, 'A running server migrates its own store when it starts.');
      const flags = await openFlags(store, { environments: namesIn(options.environments), create: true });
      const projects = await flags.listProjects();
      await flags.close();
      output.json({ projects: projects.length });
      output.line(`The store is up to date: ${projects.length} project(s).`);
    });
  program
    .command('backup')
    .description('copy a SQLite store to a new file, while others use it')
    .argument('<file>')
    .action(async (file: string, _options, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>();
      const output = createOutput(io, options.json === true);
      const store = storeOf(options, 'Back up the store of a running server on its machine.');
      if (!isFile(store)) throw usageError('Only a SQLite file can be copied. For PostgreSQL, use pg_dump.');
      await backUp(store, file);
      output.json({ backup: file });
      output.line(`Copied to ${file}.`);
    });
}

function storeOf({ store }: CommonOptions, advice: string): string {
  if (store === undefined || store === '') throw usageError('Name the store: --store FILE or FLAGS_STORE.');
  if (/^https?:/.test(store)) throw usageError(`This command needs a store, not an address. ${advice}`);
  return store;
}

async function backUp(store: string, file: string): Promise<void> {
  // Opens the engine first, because it refuses a missing file and migrates an old one.
  const flags = await openFlags(store, {});
  await flags.close();
  const storage = sqliteStorage(store);
  try {
    await storage.backup(file);
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${reasonOf(error)}`);
  } finally {
    storage.close();
  }
}
