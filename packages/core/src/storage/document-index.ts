import { placeInOrder } from '../code-point-order.js';
import { createDocumentMap } from './document-map.js';
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
      for (const ids of listsWith(key, parent)) ids.splice(placeInOrder(ids, key.id, itself), 0, key.id);
    },
    remove(key, parent) {
      for (const ids of listsWith(key, parent)) ids.splice(placeInOrder(ids, key.id, itself), 1);
    },
    ids({ kind, parent, after, limit }) {
      const all = (parent === undefined ? byKind.get(kind) : byParent.get({ kind, id: parent })) ?? [];
      const start = after === undefined ? 0 : placeAfter(all, after);
      return all.slice(start, limit === undefined ? undefined : start + limit);
    },
  };
}

/** The index of the first id that comes after `id`. */
function placeAfter(ids: readonly string[], id: string): number {
  const place = placeInOrder(ids, id, itself);
  return ids[place] === id ? place + 1 : place;
}

function itself(id: string): string {
  return id;
}
