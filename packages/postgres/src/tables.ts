import { createHash } from 'node:crypto';

/** The names of the tables, quoted for SQL. */
export interface TableNames {
  /** A table or sequence with its schema: `"public"."flags_documents"`. */
  table(name: string): string;
  /** An index, named without its schema, as CREATE INDEX requires: `"flags_events_by_type"`. */
  index(name: string): string;
}

export interface TableLocation {
  readonly schema: string;
  readonly tablePrefix: string;
}

export function tableNames({ schema, tablePrefix }: TableLocation): TableNames {
  const index = (name: string) => quoteIdentifier(`${tablePrefix}${name}`);
  return { index, table: (name) => `${quoteIdentifier(schema)}.${index(name)}` };
}

/** Quotes a name for SQL. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes match these characters
const UNSTORABLE = /[\u0000\u0001\ud7ff\ud800-\udfff]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes match these characters
const REPLACED = /[\u0001\ud7ff]./gsu;

/**
 * Encodes text for PostgreSQL, which can store neither U+0000 nor lone surrogates. The encoding is reversible and keeps the
 * sort order. Nearly all texts stay as they are.
 */
export function toStoredText(text: string): string {
  return UNSTORABLE.test(text) ? text.replace(new RegExp(UNSTORABLE, 'gu'), escapeCharacter) : text;
}

/** Reverses {@link toStoredText}. */
export function fromStoredText(stored: string): string {
  return UNSTORABLE.test(stored) ? stored.replace(REPLACED, unescapeCharacter) : stored;
}

/** U+0001 escapes U+0000 and itself. U+D7FF escapes itself and the surrogates, which follow it. */
function escapeCharacter(character: string): string {
  if (character <= '\u0001') return `\u0001${character === '\u0000' ? '\u0001' : '\u0002'}`;
  return character === '\ud7ff' ? '\ud7ff\u0001' : `\ud7ff${String.fromCharCode(character.charCodeAt(0) - 0xc800)}`;
}

function unescapeCharacter([head, code]: string): string {
  if (head === '\u0001') return code === '\u0001' ? '\u0000' : '\u0001';
  return code === '\u0001' ? '\ud7ff' : String.fromCharCode((code ?? '').charCodeAt(0) + 0xc800);
}

/**
 * Quotes a text without U+0000, or null, for SQL. Several statements sent at once cannot have parameters. Correct for both
 * values of `standard_conforming_strings`.
 */
export function toLiteral(text: string | null): string {
  if (text === null) return 'NULL';
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return quoted.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

/** Quotes texts and nulls, separated by commas. */
export function toLiterals(texts: readonly (string | null)[]): string {
  return texts.map(toLiteral).join(', ');
}

/** SQL: an expression, at most the largest safe integer. */
export function bounded(sum: string): string {
  return `least(${sum}, ${Number.MAX_SAFE_INTEGER})`;
}

/** SQL: the key of an advisory lock for these tables, the same on every node. */
export function lockKey(purpose: 'commit' | 'migration' | 'usage', { schema, tablePrefix }: TableLocation): string {
  const name = JSON.stringify(['@flags/postgres', purpose, schema, tablePrefix]);
  return `${createHash('sha256').update(name).digest().readBigInt64BE()}::bigint`;
}
