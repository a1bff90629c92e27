import { lowerBound } from '../../base/collections.js';
import { copyJson, deepFreeze, internJson, mergeJson } from '../../base/json.js';
import { FlagsError } from '../../errors.js';
import { applyCommit, type CommitTarget, createDocumentMap, type PreparedContent, prepareCommit } from '../commit.js';
import type { DocumentKey, ListedDocument, ListQuery, Storage, StoredDocument } from '../port.js';
import type { UsageStorage } from '../usage-port.js';
import { memoryEvents } from './events.js';
import { memoryUsage } from './memory-usage.js';

/**
 * Creates a storage in the memory of this process. Other processes cannot see it, and it ends with the process.
 *
 * Within the process it gives every guarantee of {@link Storage}: if two concurrent commits expect the same revision,
 * exactly one succeeds.
 *
 * After `close` every call throws `closed`. A value that JSON cannot express (a cycle, a `bigint`) throws the `TypeError` of
 * `JSON.stringify` and changes nothing.
 *
 * @example
 * const flags = await createFlags({ storage: memoryStorage() });
 */
export function memoryStorage(): Storage {
  const documents = memoryDocuments();
  const events = memoryEvents(documents);
  let changes = 0;
  const usage = withChangeHook(memoryUsage(), () => {
    changes += 1;
  });
  let closed = false;

  function assertOpen(): void {
    if (closed) throw closedError();
  }

  return {
    usage,
    get: (key) => (closed ? Promise.reject(closedError()) : documents.get(key)),
    peek: documents.peek,
    async list(query) {
      assertOpen();
      return documents.list(query);
    },
    // Atomic, because nothing awaits between the checks and the writes.
    async commit(commit) {
      assertOpen();
      changes += 1;
      return applyCommit(prepareCommit(commit), { documents, events });
    },
    async dataVersion() {
      assertOpen();
      return String(changes);
    },
    async events(query) {
      assertOpen();
      return events.query(query);
    },
    async close() {
      closed = true;
      await usage.close();
    },
  };
}

/** Wraps usage so that it calls `onChange` before every change. */
function withChangeHook(usage: UsageStorage, onChange: () => void): UsageStorage {
  const hooked =
    <Input, Result>(change: (input: Input) => Result) =>
    (input: Input) => {
      onChange();
      return change(input);
    };
  return { ...usage, record: hooked(usage.record), forget: hooked(usage.forget), prune: hooked(usage.prune) };
}

function closedError(): FlagsError {
  return new FlagsError('closed', 'The storage has been closed.');
}

/** The ids of existing documents by kind and by parent, in code-point order. */
interface DocumentIndex {
  /** The document must not be in the index. */
  add(key: DocumentKey, parent: string | null): void;
  /** The parent must be the one that the document was added with. */
  remove(key: DocumentKey, parent: string | null): void;
  ids(query: Omit<ListQuery, 'part'>): readonly string[];
}

function createDocumentIndex(): DocumentIndex {
  const byKind = new Map<string, OrderedIds>();
  const byParent = createDocumentMap<OrderedIds>();

  function listsWith({ kind }: DocumentKey, parent: string | null): OrderedIds[] {
    const all = byKind.get(kind) ?? createOrderedIds();
    byKind.set(kind, all);
    if (parent === null) return [all];
    const siblings = byParent.get({ kind, id: parent }) ?? createOrderedIds();
    byParent.set({ kind, id: parent }, siblings);
    return [all, siblings];
  }

  return {
    add(key, parent) {
      for (const ids of listsWith(key, parent)) ids.add(key.id);
    },
    remove(key, parent) {
      for (const ids of listsWith(key, parent)) ids.remove(key.id);
    },
    ids({ kind, parent, after, limit }) {
      const all = parent === undefined ? byKind.get(kind) : byParent.get({ kind, id: parent });
      return all?.after(after, limit) ?? [];
    },
  };
}

type MemoryDocuments = CommitTarget['documents'] & {
  get(key: DocumentKey): StoredDocument | undefined;
  list(query: ListQuery): ListedDocument[];
  /** Returns the stored body itself, which is frozen. */
  peek(key: DocumentKey): StoredDocument | undefined;
};

interface Row {
  readonly parent: string | null;
  readonly revision: number;
  /** null for a deleted document. */
  readonly content: Content | null;
}

interface Content {
  /** Frozen, because the engine evaluates it. */
  readonly body: unknown;
  /** JSON text, which is smaller than the value. */
  readonly summary: string;
}

/** Keeps bodies as frozen values, which the engine shares by `peek`. Other readers get copies. */
function memoryDocuments(): MemoryDocuments {
  const rows = createDocumentMap<Row>();
  const index = createDocumentIndex();
  // Documents that are created together often have equal summaries: share one text.
  let lastSummary = '';

  function peek({ kind, id }: DocumentKey): StoredDocument | undefined {
    const row = rows.get({ kind, id });
    if (!row?.content) return undefined;
    return { key: { kind, id }, parent: row.parent, revision: row.revision, body: row.content.body };
  }

  /** Reuses equal parts of the previous body, which evaluation has compiled. */
  function toContent({ body, value, summary }: PreparedContent, before: Content | null | undefined): Content {
    // Reading the text once makes it take a third less memory.
    Buffer.byteLength(summary);
    if (summary !== lastSummary) lastSummary = summary;
    const known = before?.body;
    // The engine's value shares its unchanged parts with the previous body, so only the changed parts are copied.
    const own =
      known && value ? deepFreeze(mergeJson(value, { known, twin: known })) : internJson(JSON.parse(body), known);
    return { body: own, summary: lastSummary };
  }

  return {
    peek,
    get({ kind, id }) {
      const row = rows.get({ kind, id });
      if (!row?.content) return undefined;
      return { key: { kind, id }, parent: row.parent, revision: row.revision, body: copyJson(row.content.body) };
    },
    list({ part, ...query }) {
      const { kind } = query;
      return index.ids(query).flatMap((id) => {
        const row = rows.get({ kind, id });
        if (!row?.content) return [];
        const { body, summary } = row.content;
        const content = part === 'body' ? copyJson(body) : JSON.parse(summary);
        return { key: { kind, id }, parent: row.parent, revision: row.revision, content };
      });
    },
    write({ key, parent, content }) {
      const before = rows.get(key);
      const revision = (before?.revision ?? 0) + 1;
      if (content === 'unchanged') {
        rows.set(key, { parent: null, content: null, ...before, revision });
        return revision;
      }
      if (!before?.content || !content || before.parent !== parent) {
        if (before?.content) index.remove(key, before.parent);
        if (content) index.add(key, parent);
      }
      rows.set(key, { parent, revision, content: content && toContent(content, before?.content) });
      return revision;
    },
    revision(key) {
      const row = rows.get(key);
      return row?.content ? row.revision : 0;
    },
    firstIds: (vacancy, limit) => index.ids({ ...vacancy, limit }),
  };
}

/** Maximum number of ids in a run. One insertion moves at most this many ids. */
const LONGEST_RUN = 512;

/** A set of ids in code-point order. */
interface OrderedIds {
  /** The id must not be in the set. */
  add(id: string): void;
  remove(id: string): void;
  /** Returns at most `limit` ids that are greater than `id`. Undefined: no limit; from the first id. */
  after(id: string | undefined, limit: number | undefined): readonly string[];
}

/** Stores the ids in sorted runs: an insertion into one list of 100,000 ids would move half of them. */
export function createOrderedIds(): OrderedIds {
  const runs: string[][] = [];

  /** Returns the index of the run for an id: the last run that does not begin after it. */
  function runFor(id: string): number {
    const next = lowerBound(runs, id, firstOf);
    const begins = runs[next]?.[0] === id;
    return begins ? next : Math.max(next - 1, 0);
  }

  return {
    add(id) {
      const at = runFor(id);
      const run = runs[at];
      if (!run) return void runs.push([id]);
      run.splice(lowerBound(run, id, itself), 0, id);
      if (run.length > LONGEST_RUN) runs.splice(at + 1, 0, run.splice(LONGEST_RUN / 2));
    },
    remove(id) {
      const at = runFor(id);
      const run = runs[at];
      const place = run ? lowerBound(run, id, itself) : 0;
      if (run?.[place] !== id) return;
      run.splice(place, 1);
      if (run.length === 0) runs.splice(at, 1);
    },
    after(id, limit = Number.POSITIVE_INFINITY) {
      const first = id === undefined ? 0 : runFor(id);
      const found: string[] = [];
      for (let at = first; at < runs.length && found.length < limit; at++) {
        const run = runs[at] ?? [];
        const start = id === undefined || at > first ? 0 : placeAfter(run, id);
        for (let place = start; place < run.length && found.length < limit; place++) found.push(run[place] ?? '');
      }
      return found;
    },
  };
}

/** Returns the index of the first id that is greater than `id`. */
function placeAfter(ids: readonly string[], id: string): number {
  const place = lowerBound(ids, id, itself);
  return ids[place] === id ? place + 1 : place;
}

function firstOf([first = '']: readonly string[]): string {
  return first;
}

function itself(id: string): string {
  return id;
}
