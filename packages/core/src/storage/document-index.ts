import { createDocumentMap } from './document-map.js';
import { createOrderedIds, type OrderedIds } from './ordered-ids.js';
import type { DocumentKey, ListQuery } from './port.js';

/** The ids of existing documents, by kind and by parent, each list in code-point order. */
export interface DocumentIndex {
  /** The document must not be in the index. */
  add(key: DocumentKey, parent: string | null): void;
  /** With the parent that it was added under. */
  remove(key: DocumentKey, parent: string | null): void;
  ids(query: Omit<ListQuery, 'part'>): readonly string[];
}

export function createDocumentIndex(): DocumentIndex {
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
