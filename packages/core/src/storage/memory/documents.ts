import { copyJson, internJson } from '../../validation/json.js';
import { type CommitTarget, createDocumentMap, type PreparedContent } from '../commit.js';
import { createOrderedIds, type OrderedIds } from '../ordered-ids.js';
import type { DocumentKey, ListedDocument, ListQuery, StoredDocument } from '../port.js';

/** The ids of existing documents by kind and by parent, in code-point order. */
export interface DocumentIndex {
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

export type MemoryDocuments = CommitTarget['documents'] & {
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
export function memoryDocuments(): MemoryDocuments {
  const rows = createDocumentMap<Row>();
  const index = createDocumentIndex();
  // Documents that are created together often have equal summaries: one text serves all.
  let lastSummary = '';

  function peek({ kind, id }: DocumentKey): StoredDocument | undefined {
    const row = rows.get({ kind, id });
    if (!row?.content) return undefined;
    return { key: { kind, id }, parent: row.parent, revision: row.revision, body: row.content.body };
  }

  /** Reuses equal parts of the body before, which evaluation has compiled. */
  function toContent({ body, summary }: PreparedContent, before: Content | null | undefined): Content {
    // `JSON.stringify` may return a text in many pieces, which take more memory. Measuring joins the pieces.
    Buffer.byteLength(summary);
    if (summary !== lastSummary) lastSummary = summary;
    return { body: internJson(JSON.parse(body), before?.body), summary: lastSummary };
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
