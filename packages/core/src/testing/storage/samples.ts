import assert from 'node:assert/strict';
import type {
  Commit,
  CommitResult,
  DocumentKey,
  DocumentPut,
  ListQuery,
  NewEvent,
  Storage,
  StoredEvent,
  StoredEventQuery,
} from '../../storage/port.js';

export const flag = (id: string): DocumentKey => ({ kind: 'flag', id });
export const project = (id: string): DocumentKey => ({ kind: 'project', id });

/** A write of a document; created under no parent unless told otherwise. */
export function put(key: DocumentKey, options: Partial<Omit<DocumentPut, 'key'>> = {}): DocumentPut {
  return { key, expected: 0, parent: null, body: { name: key.id }, summary: { id: key.id }, ...options };
}

export function happened(subject: DocumentKey, details: Partial<NewEvent> = {}): NewEvent {
  return {
    type: 'changed',
    at: '2026-01-01T00:00:00.000Z',
    actor: 'ada',
    subject,
    project: null,
    environment: null,
    data: null,
    before: null,
    ...details,
  };
}

/** Commits what must succeed, and gives the new revisions. */
export async function commit(storage: Storage, parts: Partial<Commit>): Promise<readonly number[]> {
  const result = await storage.commit({ writes: [], events: [], ...parts });
  assert.ok(result.ok, `unexpected conflict: ${JSON.stringify(result)}`);
  return result.revisions;
}

/** Commits what must be refused because of `culprit`. */
export async function conflict(storage: Storage, parts: Partial<Commit>, culprit: DocumentKey): Promise<void> {
  const result = await storage.commit({ writes: [], events: [], ...parts });
  same(result, { ok: false, conflict: culprit });
}

/** Exactly one of the contenders won; the others were told, and none failed. Gives the winner's index. */
export function onlyWinner(results: readonly CommitResult[]): number {
  const winners = results.flatMap((result, index) => (result.ok ? [index] : []));
  assert.equal(winners.length, 1, `${winners.length} winners among ${results.length} contenders`);
  return winners[0] ?? -1;
}

/** The events of a query that leaves out what most rules do not care about. */
export async function eventsOf(storage: Storage, query: Partial<StoredEventQuery> = {}): Promise<StoredEvent[]> {
  const page = await storage.events({ order: 'oldest-first', limit: 1000, ...query });
  return page.events;
}

export async function idsOf(storage: Storage, kind: string, parent?: string): Promise<string[]> {
  return pageOf(storage, { kind, ...(parent === undefined ? {} : { parent }) });
}

/** The ids that a list gives. */
export async function pageOf(storage: Storage, query: Omit<ListQuery, 'part'>): Promise<string[]> {
  const listed = await storage.list({ part: 'summary', ...query });
  return listed.map(({ key }) => key.id);
}

/** Equal in every value and member. Objects may come from another realm: runners isolate tests, native drivers do not. */
export function same(actual: unknown, expected: unknown): void {
  assert.deepEqual(inThisRealm(actual), inThisRealm(expected));
}

function inThisRealm(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, inThisRealm);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inThisRealm(member)]));
}
