import { existsSync } from 'node:fs';
import { isFlagsError } from '@flags/core';
import { backUpFile } from '@flags/core/sqlite';
import type { Command } from 'commander';
import {
  assertStore,
  describeDriver,
  EmptyStoreError,
  isAddress,
  isDriverMissing,
  isFile,
  nameOf,
  openFlagsOf,
  reasonOf,
} from '../connection.js';
import { CommandError, type CommandIo, createOutput, usageError } from '../output.js';
import { type CommonOptions, namesIn } from '../session.js';

/** Adds the commands for a store itself: `migrate` and `backup`. */
export function addStoreCommands(program: Command, io: CommandIo): void {
  program
    .command('migrate')
    .description('migrate the tables of a store to this version, or create them')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>();
      const output = createOutput(io, options.json === true);
      const store = storeOf(options, 'A running server migrates its own store when it starts.');
      if (store === ':memory:') throw usageError('A store in memory is always new: it needs no migration.');
      const { driverFrom } = options;
      const isNew = await isEmpty(store, driverFrom);
      const name = nameOf(store);
      if (options.dryRun === true) {
        output.line(isNew ? `Would create ${name}.` : `Would migrate ${name}.`);
        output.json({ changed: false });
        return;
      }
      const environments = namesIn(options.environments);
      const flags = await openFlagsOf(store, { environments, create: true, driverFrom });
      const { items: projects } = await flags.listProjects();
      await flags.close();
      output.json({ store: name, created: isNew, projects: projects.length });
      const count = `${projects.length} ${projects.length === 1 ? 'project' : 'projects'}`;
      output.line(isNew ? `Created ${name}.` : `${name} is up to date: ${count}.`);
    });
  program
    .command('backup')
    .description('copy a SQLite store to a new file, even while it is in use')
    .argument('<file>')
    .action(async (file: string, _options, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>();
      const output = createOutput(io, options.json === true);
      const store = storeOf(options, 'Back up the store of a running server on its machine.');
      if (!isFile(store)) throw usageError('Only a SQLite file can be copied. For PostgreSQL, use pg_dump.');
      if (!existsSync(store)) throw new CommandError(`There is no file ${store}.`);
      if (options.dryRun === true) {
        output.line(`Would copy ${store} to ${file}.`);
        output.json({ changed: false });
        return;
      }
      await backUp(store, file, options.driverFrom);
      output.json({ backup: file });
      output.line(`Copied ${store} to ${file}.`);
    });
}

/** Returns whether a store has no tables yet. */
async function isEmpty(store: string, driverFrom: string | undefined): Promise<boolean> {
  try {
    await (await openFlagsOf(store, { environments: undefined, driverFrom })).close();
    return false;
  } catch (error) {
    return error instanceof EmptyStoreError;
  }
}

function storeOf({ store }: CommonOptions, advice: string): string {
  if (store === undefined || store === '') throw usageError('Name the store: --store FILE or FLAGS_STORE.');
  if (isAddress(store)) throw usageError(`This command needs a store, not an address. ${advice}`);
  assertStore(store);
  return store;
}

async function backUp(store: string, file: string, driverFrom: string | undefined): Promise<void> {
  try {
    // Does not open a storage: that would migrate an older store before the backup.
    await backUpFile(store, file, { driverFrom });
  } catch (error) {
    if (isDriverMissing(error)) throw new CommandError(describeDriver(store, driverFrom));
    // Refusals name the file themselves.
    if (isFlagsError(error)) throw new CommandError(error.message);
    throw new CommandError(`${store} cannot be copied to ${file}: ${reasonOf(error)}`);
  }
}
