import type { DocumentKey, PreparedCommit } from '@flags/core';
import { toStoredText } from '../stored-text.js';

/** A document that a commit locks, and the revision that it must have; its key as it is stored. */
export interface Lock {
  readonly key: DocumentKey;
  readonly expected: number;
  readonly strength: 'NO KEY UPDATE' | 'SHARE';
}

/** Where a statement tells locks apart by strength more often than this, it takes the stronger one for all. */
const MOST_RUNS = 8;

/**
 * What a commit locks, by key in one order for everybody, so that crossing commits never wait for each other in a circle;
 * neighbours of one strength together. Many may check a document at once, one may write it.
 */
export function lockRuns({ writes, checks }: PreparedCommit): readonly (readonly Lock[])[] {
  const locks: Lock[] = [
    ...writes.map(({ key, expected }) => ({ key: toStoredKey(key), expected, strength: 'NO KEY UPDATE' as const })),
    ...checks.map(({ key, expected }) => ({ key: toStoredKey(key), expected, strength: 'SHARE' as const })),
  ].sort((one, other) => compare(one.key.kind, other.key.kind) || compare(one.key.id, other.key.id));
  const runs = intoRuns(locks);
  return runs.length <= MOST_RUNS ? runs : [locks.map((lock) => ({ ...lock, strength: 'NO KEY UPDATE' }))];
}

function intoRuns(locks: readonly Lock[]): readonly (readonly Lock[])[] {
  const runs: Lock[][] = [];
  for (const lock of locks) {
    const run = runs.at(-1);
    if (run?.[0]?.strength === lock.strength) run.push(lock);
    else runs.push([lock]);
  }
  return runs;
}

export function toStoredKey({ kind, id }: DocumentKey): DocumentKey {
  return { kind: toStoredText(kind), id: toStoredText(id) };
}

/** By bytes, as the columns' collation "C" does. */
function compare(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

export function toStoredTextOrNull(text: string | null): string | null {
  return text === null ? null : toStoredText(text);
}
