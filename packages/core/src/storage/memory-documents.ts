import type { CommitTarget } from './apply-commit.js';
import { createDocumentMap } from './document-map.js';
import type { DocumentKey, ListedDocument, ListQuery, StoredDocument, Vacancy } from './port.js';
import type { PreparedContent } from './prepared-commit.js';
import { insertSorted, removeSorted } from './sorted-ids.js';

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
  const byKind = new Map<string, string[]>();
  const byParent = createDocumentMap<string[]>();

  function existing(key: DocumentKey): (Row & { readonly content: PreparedContent }) | undefined {
    const row = rows.get(key);
    return row?.content ? { ...row, content: row.content } : undefined;
  }

  function idsOf(kind: string, parent: string | undefined): readonly string[] {
    return (parent === undefined ? byKind.get(kind) : byParent.get({ kind, id: parent })) ?? [];
  }

  function unlist({ kind, id }: DocumentKey, parent: string | null): void {
    removeSorted(byKind.get(kind) ?? [], id);
    if (parent !== null) removeSorted(byParent.get({ kind, id: parent }) ?? [], id);
  }

  function enlist({ kind, id }: DocumentKey, parent: string | null): void {
    const ids = byKind.get(kind) ?? [];
    insertSorted(ids, id);
    byKind.set(kind, ids);
    if (parent === null) return;
    const siblings = byParent.get({ kind, id: parent }) ?? [];
    insertSorted(siblings, id);
    byParent.set({ kind, id: parent }, siblings);
  }

  return {
    get(key) {
      const row = existing(key);
      if (!row) return undefined;
      const { parent, revision, content } = row;
      return { key: { kind: key.kind, id: key.id }, parent, revision, body: JSON.parse(content.body) };
    },
    list({ kind, parent, part }) {
      return idsOf(kind, parent).flatMap((id) => {
        const row = existing({ kind, id });
        if (!row) return [];
        const { revision, content } = row;
        return { key: { kind, id }, parent: row.parent, revision, content: JSON.parse(content[part]) };
      });
    },
    write({ key, parent, content }) {
      const before = rows.get(key);
      const revision = (before?.revision ?? 0) + 1;
      const moves = before?.parent !== parent || (before.content === null) !== (content === null);
      if (moves && before?.content) unlist(key, before.parent);
      if (moves && content) enlist(key, parent);
      rows.set(key, { parent, revision, content });
      return revision;
    },
    revision: (key) => existing(key)?.revision ?? 0,
    firstIds: ({ kind, parent }: Vacancy, limit) => idsOf(kind, parent).slice(0, limit),
  };
}
