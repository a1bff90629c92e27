import type { CommitTarget } from './apply-commit.js';
import { createDocumentIndex } from './document-index.js';
import { createDocumentMap } from './document-map.js';
import type { DocumentKey, ListedDocument, ListQuery, StoredDocument } from './port.js';
import type { PreparedContent } from './prepared-commit.js';

export type MemoryDocuments = CommitTarget['documents'] & {
  get(key: DocumentKey): StoredDocument | undefined;
  list(query: ListQuery): ListedDocument[];
};

interface Row {
  readonly parent: string | null;
  readonly revision: number;
  /** null: deleted. */
  readonly content: PreparedContent | null;
}

/** Contents are kept as JSON text, so that every reader gets a copy of its own. */
export function memoryDocuments(): MemoryDocuments {
  const rows = createDocumentMap<Row>();
  const index = createDocumentIndex();

  return {
    get({ kind, id }) {
      const row = rows.get({ kind, id });
      if (!row?.content) return undefined;
      return { key: { kind, id }, parent: row.parent, revision: row.revision, body: JSON.parse(row.content.body) };
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
          content: JSON.parse(row.content[part]),
        };
      });
    },
    write({ key, parent, content }) {
      const before = rows.get(key);
      const after = { parent, revision: (before?.revision ?? 0) + 1, content };
      if (!before?.content || !content || before.parent !== parent) {
        if (before?.content) index.remove(key, before.parent);
        if (content) index.add(key, parent);
      }
      rows.set(key, after);
      return after.revision;
    },
    revision(key) {
      const row = rows.get(key);
      return row?.content ? row.revision : 0;
    },
    firstIds: (vacancy, limit) => index.ids({ ...vacancy, limit }),
  };
}
