import type { DocumentKey } from './port.js';

/** A map keyed by documents. */
export interface DocumentMap<V> {
  get(key: DocumentKey): V | undefined;
  set(key: DocumentKey, value: V): void;
}

/** Kinds and ids are arbitrary text, so they are two levels of maps and never joined into one string. */
export function createDocumentMap<V>(): DocumentMap<V> {
  const kinds = new Map<string, Map<string, V>>();
  return {
    get: ({ kind, id }) => kinds.get(kind)?.get(id),
    set({ kind, id }, value) {
      const ids = kinds.get(kind);
      if (ids) ids.set(id, value);
      else kinds.set(kind, new Map<string, V>().set(id, value));
    },
  };
}
