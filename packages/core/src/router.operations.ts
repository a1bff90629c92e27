import type { FlagRef } from './base/common.types.js';
import type { ChangeEngine } from './changesets/engine.js';
import { run } from './changesets/run-operation.js';
import type { Definitions, ExportQuery } from './definitions/definition.types.js';
import { type CanReadDefinitions, exportDefinitions } from './definitions/export.operations.js';
import { getFlag } from './flags/flag.operations.js';
import type { FlagDetail } from './flags/flag.types.js';
import { type CanReadProject, searchFlags } from './flags/flag-lists.operations.js';
import type { FlagPage, FlagQuery } from './flags/flag-search.types.js';
import type { Flags } from './flags.js';

/*
 * What routers need of flags, and applications do not.
 */

/** The results that a data version covers. */
export type DataVersionScope = 'flags' | 'projects';

/**
 * Returns an opaque data version. Changes whenever stored state changes, in any process; that includes reported usage,
 * which tells when flags were last seen. The version of `projects` also changes every minute, because health depends on
 * the age of flags, in days. While the version is unchanged, results derived from earlier reads are still valid.
 *
 * @returns undefined if the storage has no data version, or if the usage is in another storage
 */
export function dataVersion(flags: Flags, scope: DataVersionScope = 'flags'): Promise<string | undefined> {
  return run(flags, { op: 'dataVersion' }, (engine) => readDataVersion(engine, scope));
}

const MINUTE = 60_000;

async function readDataVersion(engine: ChangeEngine, scope: DataVersionScope): Promise<string | undefined> {
  const { storage, now } = engine;
  if (!storage.dataVersion || engine.usage !== storage.usage) return undefined;
  const stored = await storage.dataVersion();
  return scope === 'flags' ? stored : `${stored} ${Math.floor(now().getTime() / MINUTE)}`;
}

/** Like `getFlag`. Answers from memory if it has the revision that a change in this process has just written. */
export function getWrittenFlag(flags: Flags, ref: FlagRef, revision: number | undefined): Promise<FlagDetail> {
  return run(flags, { op: 'getFlag', ref }, (engine) => getFlag(engine, ref, revision));
}

/** Like `searchFlags`, for the projects that the caller may read. Calls `canRead` once per project. */
export function searchReadableFlags(flags: Flags, query: FlagQuery, canRead: CanReadProject): Promise<FlagPage> {
  return run(flags, { op: 'searchFlags' }, (engine) => searchFlags(engine, query, canRead));
}

/**
 * Like `exportDefinitions`, for the projects that the caller may read; null: segments of the instance. The caller must not
 * change the result.
 */
export function exportReadableDefinitions(
  flags: Flags,
  query: ExportQuery,
  canRead: CanReadDefinitions,
): Promise<Definitions> {
  return run(flags, { op: 'exportDefinitions', ref: query }, (engine) =>
    exportDefinitions(engine, query, { canRead, isReadOnly: true }),
  );
}
