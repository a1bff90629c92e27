/** Where the tables are. Every name comes quoted, ready to stand in a statement. */
export interface TableNames {
  /** A table or sequence with its schema: `"public"."flags_documents"`. */
  table(name: string): string;
  /** An index or constraint, which is named without its schema when it is created: `"flags_events_by_type"`. */
  index(name: string): string;
}

export interface Place {
  readonly schema: string;
  readonly tablePrefix: string;
}

export function tableNames({ schema, tablePrefix }: Place): TableNames {
  const index = (name: string) => quoteIdentifier(`${tablePrefix}${name}`);
  return { index, table: (name) => `${quoteIdentifier(schema)}.${index(name)}` };
}

/** Any text is a name inside double quotes, save that quotes are doubled. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
