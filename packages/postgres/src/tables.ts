import { createHash } from 'node:crypto';

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

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what has to be found
const UNSTORABLE = /[\u0000\u0001\ud7ff\ud800-\udfff]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what has to be found
const REPLACED = /[\u0001\ud7ff]./gsu;

/**
 * Text as PostgreSQL can store it: it knows neither U+0000 nor lone surrogates. Every text has a form of its own, the
 * forms sort like the texts, and nearly all texts are their own form.
 */
export function toStoredText(text: string): string {
  return UNSTORABLE.test(text) ? text.replace(new RegExp(UNSTORABLE, 'gu'), escapeCharacter) : text;
}

/** The text that {@link toStoredText} was given. */
export function fromStoredText(stored: string): string {
  return UNSTORABLE.test(stored) ? stored.replace(REPLACED, unescapeCharacter) : stored;
}

/** U+0001 heads what stands for U+0000 and itself, U+D7FF what stands for itself and the surrogates that follow it. */
function escapeCharacter(character: string): string {
  if (character <= '\u0001') return `\u0001${character === '\u0000' ? '\u0001' : '\u0002'}`;
  return character === '\ud7ff' ? '\ud7ff\u0001' : `\ud7ff${String.fromCharCode(character.charCodeAt(0) - 0xc800)}`;
}

function unescapeCharacter([head, code]: string): string {
  if (head === '\u0001') return code === '\u0001' ? '\u0000' : '\u0001';
  return code === '\u0001' ? '\ud7ff' : String.fromCharCode((code ?? '').charCodeAt(0) + 0xc800);
}

/**
 * A text or null as SQL, for statements that go to the database several at once, where parameters cannot. The
 * text holds no U+0000. Right whatever `standard_conforming_strings` is.
 */
export function toLiteral(text: string | null): string {
  if (text === null) return 'NULL';
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return quoted.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

/** Texts and nulls, separated by commas. */
export function toLiterals(texts: readonly (string | null)[]): string {
  return texts.map(toLiteral).join(', ');
}

/** A number for an advisory lock of this storage's, as SQL. The same in every node. */
export function lockKey(purpose: 'commit' | 'migration' | 'metrics', { schema, tablePrefix }: Place): string {
  const name = JSON.stringify(['@flags/postgres', purpose, schema, tablePrefix]);
  return `${createHash('sha256').update(name).digest().readBigInt64BE()}::bigint`;
}
