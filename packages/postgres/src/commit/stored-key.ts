import type { DocumentKey } from '@flags/core';
import { toStoredText } from '../stored-text.js';

export function toStoredKey({ kind, id }: DocumentKey): DocumentKey {
  return { kind: toStoredText(kind), id: toStoredText(id) };
}

/** By bytes, as the columns' collation "C" does. */
export function compareStoredKeys(one: DocumentKey, other: DocumentKey): number {
  return compare(one.kind, other.kind) || compare(one.id, other.id);
}

export function toStoredTextOrNull(text: string | null): string | null {
  return text === null ? null : toStoredText(text);
}

function compare(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
