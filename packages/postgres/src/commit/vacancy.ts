import type { Vacancy } from '@flags/core';
import { toLiteral } from '../literal.js';
import type { TableNames } from '../schema/table-names.js';
import { toStoredText } from '../stored-text.js';

/**
 * Gives the `id` of the first document that stands where it must be vacant, as the commit's writes leave it. A statement of
 * its own, after all locks are held: one that begins before may see too little.
 */
export function vacancyStatement({ kind, parent }: Vacancy, names: TableNames): string {
  return `SELECT id FROM ${names.table('documents')}
WHERE kind = ${toLiteral(toStoredText(kind))} AND parent = ${toLiteral(toStoredText(parent))}
ORDER BY id LIMIT 1`;
}
