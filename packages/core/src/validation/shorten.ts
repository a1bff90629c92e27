/**
 * A text of at most so many characters: of a longer one the beginning and the end are kept, as the end of a message says what
 * to do. Error messages echo input through this, so that a name of 1 MiB is not sent back whole.
 */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = Math.floor((limit - 1) / 3);
  const start = limit - 1 - end;
  // A surrogate that a cut has parted from its other half is left out.
  const head = text.slice(0, start).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - end).replace(/^[\uDC00-\uDFFF]/, '');
  return `${head}…${tail}`;
}
