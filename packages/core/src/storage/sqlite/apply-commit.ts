import { applyCommit } from '../apply-commit.js';
import type { CommitResult } from '../port.js';
import type { PreparedCommit } from '../prepared-commit.js';
import type { SqliteDocuments } from './documents.js';
import type { SqliteEvents } from './events.js';

interface Target {
  readonly documents: SqliteDocuments;
  readonly events: SqliteEvents;
}

/** Most commits put one document that is as expected: that takes one statement. All others are looked through first. */
export function applyToSqlite(commit: PreparedCommit, target: Target): CommitResult {
  return putOne(commit, target) ?? applyCommit(commit, target);
}

/** Undefined when nothing was written. */
function putOne({ writes, checks, vacant, events }: PreparedCommit, target: Target): CommitResult | undefined {
  const [write] = writes;
  if (!write || writes.length > 1 || vacant.length > 0) return undefined;
  if (checks.some(({ key, expected }) => target.documents.revision(key) !== expected)) return undefined;
  if (!target.documents.putExpected(write)) return undefined;
  const revisions = [write.expected + 1];
  target.events.append(events, revisions);
  return { ok: true, revisions };
}
