import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Core from '@flags/core';
import type { CreatedToken, Flags, FlagsOptions, NewToken } from '@flags/core';
import type * as Sqlite from '@flags/core/sqlite';
import type { MetricsReport } from '@flags/core/types';
import type * as Express from '@flags/express';
import type * as Postgres from '@flags/postgres';

export const THIS_BUILD = join(import.meta.dirname, '../../..');

/** Where a build stores its flags: in a SQLite file, on PostgreSQL, or else in memory. */
export interface Place {
  readonly file?: string | undefined;
  readonly postgres?: { readonly connectionString: string; readonly schema: string } | undefined;
}

/** Returns a function that opens the flags of a place with the build of a repository; it can be called again. */
export async function openerOf(repository: string, { file, postgres }: Place): Promise<() => Promise<Flags>> {
  const core: typeof Core = await load(repository, 'core/dist/index.js');
  const sqlite: typeof Sqlite = await load(repository, 'core/dist/sqlite.js');
  const { postgresStorage }: typeof Postgres = await load(repository, 'postgres/dist/index.js');
  // A storage in memory ends with its instance, so instances are opened on one that does not close.
  const inMemory = { ...core.memoryStorage(), close: () => undefined };
  const storage = (): FlagsOptions['storage'] => {
    if (file !== undefined) return sqlite.sqliteStorage(file);
    return postgres ? postgresStorage(postgres) : inMemory;
  };
  // The other build may have the function under this name.
  const { createFlags = core.openFlags } = core as { readonly createFlags?: typeof core.openFlags };
  return () => createFlags({ storage: storage() });
}

/** Returns a report of the current moment. The other build may read `appName` and `bucket`; unknown members are ignored. */
export function reportOf(counts: MetricsReport['counts']): MetricsReport {
  const now = new Date().toISOString();
  const report = { application: 'shop', start: now, stop: now, counts };
  return { ...report, ...{ appName: 'shop', bucket: { start: now, stop: now, toggles: counts } } };
}

/** Creates a token. The other build may have the method on the flags themselves. */
export function createToken(flags: Flags, input: NewToken): Promise<CreatedToken> {
  const { createToken } = flags as unknown as { readonly createToken?: Flags['tokens']['create'] };
  return createToken ? createToken.call(flags as never, input) : flags.tokens.create(input);
}

export async function routerOf(repository: string, flags: Flags): Promise<Express.FlagsRouter> {
  const { createFlagsRouter }: typeof Express = await load(repository, 'express/dist/index.js');
  return createFlagsRouter(flags, { auth: 'token' });
}

function load(repository: string, entry: string) {
  return import(pathToFileURL(resolve(repository, 'packages', entry)).href);
}
