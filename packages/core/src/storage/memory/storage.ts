import { compareCodePoints } from '../../base/collections.js';
import { FlagsError } from '../../base/errors.js';
import { copyJson, freezeJson } from '../../base/json.js';
import { applyCommit, type CommitTarget, createDocumentMap, type PreparedContent, prepareCommit } from '../commit.js';
import type { DocumentKey, FlagsStorage, ListedDocument, ListQuery, StoredDocument } from '../port.js';
import type { UsageStorage } from '../usage/port.js';
import { memoryEvents } from './events.js';
import { memoryUsage } from './usage.js';

/**
 * Creates a storage in the memory of this process. Other processes cannot see it, and it ends with the process.
 *
 * Within the process it gives every guarantee of {@link FlagsStorage}: if two concurrent commits expect the same revision,
 * exactly one succeeds.
 *
 * After `close` every call throws `closed`. A value that JSON cannot express (a cycle, a `bigint`) throws the `TypeError` of
 * `JSON.stringify` and changes nothing.
 *
 * @example
 * const flags = await openFlags({ storage: memoryStorage() });
 */
export function memoryStorage(): FlagsStorage {
  const documents = memoryDocuments();
  const events = memoryEvents();
  let changes = 0;
  const usage = withChangeHook(memoryUsage(), () => {
    changes += 1;
  });
  let closed = false;

  function assertOpen(): void {
    if (closed) throw new FlagsError('closed', 'The storage has been closed.');
  }

  return {
    usage,
    async get(key) {
      assertOpen();
      return documents.get(key);
    },
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

/** The ids of existing documents by kind and by parent, in code-point order. */
interface DocumentIndex {
  /** The document must not be in the index. */
  add(key: DocumentKey, parent: string | null): void;
  /** The parent must be the one that the document was added with. */
  remove(key: DocumentKey, parent: string | null): void;
  ids(query: Omit<ListQuery, 'part'>): readonly string[];
}

function createDocumentIndex(): DocumentIndex {
  const byKind = new Map<string, string[]>();
  const byParent = createDocumentMap<string[]>();

  function listsWith({ kind }: DocumentKey, parent: string | null): string[][] {
    const all = byKind.get(kind) ?? [];
    byKind.set(kind, all);
    if (parent === null) return [all];
    const siblings = byParent.get({ kind, id: parent }) ?? [];
    byParent.set({ kind, id: parent }, siblings);
    return [all, siblings];
  }

  return {
    add(key, parent) {
      for (const ids of listsWith(key, parent)) ids.splice(placeOf(ids, key.id), 0, key.id);
    },
    remove(key, parent) {
      for (const ids of listsWith(key, parent)) ids.splice(placeOf(ids, key.id), 1);
    },
    ids({ kind, parent, after, limit }) {
      const all = (parent === undefined ? byKind.get(kind) : byParent.get({ kind, id: parent })) ?? [];
      // The next text after an id is the id with U+0000.
      const start = after === undefined ? 0 : placeOf(all, `${after}\u0000`);
      return all.slice(start, limit === undefined ? undefined : start + limit);
    },
  };
}

/** Returns the index of the first id that is not less than `id`. The ids are sorted. */
function placeOf(ids: readonly string[], id: string): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareCodePoints(ids[middle] ?? '', id) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

type MemoryDocuments = CommitTarget['documents'] & {
  get(key: DocumentKey): StoredDocument | undefined;
  list(query: ListQuery): ListedDocument[];
};

interface Row {
  readonly parent: string | null;
  readonly revision: number;
  /** null for a deleted document. */
  readonly content: Content | null;
}

/** Frozen values. */
interface Content {
  readonly body: unknown;
  readonly summary: unknown;
}

/** Keeps documents as values. Readers get copies, which take a third of the time of parsing. */
function memoryDocuments(): MemoryDocuments {
  const rows = createDocumentMap<Row>();
  const index = createDocumentIndex();

  return {
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
        return {
          key: { kind, id },
          parent: row.parent,
          revision: row.revision,
          content: copyJson(row.content[part]),
        };
      });
    },
    write({ key, parent, content }) {
      const before = rows.get(key);
      const revision = (before?.revision ?? 0) + 1;
      if (content === 'unchanged') {
        rows.set(key, { parent: null, content: null, ...before, revision });
        return revision;
      }
      const isIndexed = before?.content && content && before.parent === parent;
      if (before?.content && !isIndexed) index.remove(key, before.parent);
      if (content && !isIndexed) index.add(key, parent);
      rows.set(key, { parent, revision, content: content && toContent(content) });
      return revision;
    },
    revision(key) {
      const row = rows.get(key);
      return row?.content ? row.revision : 0;
    },
    firstIds: (vacancy, limit) => index.ids({ ...vacancy, limit }),
  };
}

/** Summaries share their empty lists and short texts. */
function toContent({ body, summary }: PreparedContent): Content {
  return { body: freezeJson(JSON.parse(body)), summary: freezeJson(JSON.parse(summary)) };
}
