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
