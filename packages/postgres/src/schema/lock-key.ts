import { createHash } from 'node:crypto';
import type { Place } from './table-names.js';

/** A number for an advisory lock of this storage's, as SQL. The same in every node. */
export function lockKey(purpose: 'commit' | 'migration' | 'metrics', { schema, tablePrefix }: Place): string {
  const name = JSON.stringify(['@flags/postgres', purpose, schema, tablePrefix]);
  return `${createHash('sha256').update(name).digest().readBigInt64BE()}::bigint`;
}
