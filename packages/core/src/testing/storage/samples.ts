import assert from 'node:assert/strict';
import type {
  Commit,
  CommitResult,
  DocumentKey,
  DocumentPut,
  FlagsStorage,
  ListQuery,
  NewEvent,
  StoredEvent,
  StoredEventQuery,
} from '../../storage/port.js';
import { assertEqual, type Rule } from '../test-runner.js';

export { assertEqual };

/**
 * Declares one rule of the storage port, and its test on an empty storage. `again` opens another instance on the same data,
 * or returns undefined if there can be only one.
 */
export type StorageRule = Rule<
  (storage: FlagsStorage, again: () => Promise<FlagsStorage | undefined>) => Promise<void>
>;

export const flag = (id: string): DocumentKey => ({ kind: 'flag', id });
export const project = (id: string): DocumentKey => ({ kind: 'project', id });

/** Returns a write of a document. Default: creates it without a parent. */
export function put(key: DocumentKey, options: Partial<Omit<DocumentPut, 'key'>> = {}): DocumentPut {
  return { key, expected: 0, parent: null, body: { name: key.id }, summary: { id: key.id }, ...options };
}

export function newEvent(subject: DocumentKey, details: Partial<NewEvent> = {}): NewEvent {
  return {
    type: 'changed',
    at: '2026-01-01T00:00:00.000Z',
    actor: 'ada',
    changeSet: '0199-one',
    reason: null,
    subject,
    project: null,
    environment: null,
    data: null,
    before: null,
    ...details,
  };
}

/** Commits, asserts success, and returns the new revisions. */
export async function commit(storage: FlagsStorage, parts: Partial<Commit>): Promise<readonly number[]> {
  const result = await storage.commit({ writes: [], events: [], ...parts });
  assert.ok(result.ok, `unexpected conflict: ${JSON.stringify(result)}`);
  return result.revisions;
}

/** Commits, and asserts a conflict with `culprit`. */
export async function conflict(storage: FlagsStorage, parts: Partial<Commit>, culprit: DocumentKey): Promise<void> {
  const result = await storage.commit({ writes: [], events: [], ...parts });
  assertEqual(result, { ok: false, conflict: culprit });
}

/** Asserts that exactly one commit succeeded, and returns its index. */
export function onlyWinner(results: readonly CommitResult[]): number {
  const winners = results.flatMap((result, index) => (result.ok ? [index] : []));
  assert.equal(winners.length, 1, `${winners.length} winners among ${results.length} contenders`);
  return winners[0] ?? -1;
}

/** Returns the events of a query. Default: all, oldest first. */
export async function eventsOf(storage: FlagsStorage, query: Partial<StoredEventQuery> = {}): Promise<StoredEvent[]> {
  const page = await storage.events({ order: 'oldest-first', limit: 1000, ...query });
  return page.events;
}

export async function idsOf(storage: FlagsStorage, kind: string, parent?: string): Promise<string[]> {
  return pageOf(storage, { kind, ...(parent === undefined ? {} : { parent }) });
}

/** Returns the ids of a list. */
export async function pageOf(storage: FlagsStorage, query: Omit<ListQuery, 'part'>): Promise<string[]> {
  const listed = await storage.list({ part: 'summary', ...query });
  return listed.map(({ key }) => key.id);
}
