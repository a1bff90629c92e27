import type { DocumentKey, PreparedCommit, Vacancy } from '@flags/core';
import type { Statements } from '../database.js';
import type { TableNames } from '../schema/table-names.js';
import { fromStoredText, toStoredText } from '../stored-text.js';

interface Surroundings {
  readonly statements: Statements;
  readonly names: TableNames;
}

/** The first document that stands, or would stand after the commit, where it must be vacant. */
export async function findOccupant(
  { vacant, writes }: PreparedCommit,
  surroundings: Surroundings,
): Promise<DocumentKey | undefined> {
  for (const { kind, parent } of vacant) {
    const own = writes.filter(({ key }) => key.kind === kind);
    const put = own.find((write) => write.content !== null && write.parent === parent);
    if (put) return put.key;
    const replaced = own.map(({ key }) => toStoredText(key.id));
    const id = await firstChild({ kind, parent }, { ...surroundings, replaced });
    if (id !== undefined) return { kind, id };
  }
  return undefined;
}

async function firstChild(
  { kind, parent }: Vacancy,
  { statements, names, replaced }: Surroundings & { readonly replaced: readonly string[] },
): Promise<string | undefined> {
  const [child] = await statements.query<{ readonly id: string }>(
    `SELECT id FROM ${names.table('documents')}
    WHERE kind = $1 AND parent = $2 AND id <> ALL ($3::text[])
    ORDER BY id LIMIT 1`,
    [toStoredText(kind), toStoredText(parent), replaced],
  );
  return child && fromStoredText(child.id);
}
