/** From so many parts on, a search in all of them together is faster than one after the other. */
const MANY = 100;
/** In characters. A search in all parts together compares them from the start, one by one at every position. */
const SHORT = 64;

/** Whether a text contains any of the parts. */
export type TextSearch = (text: string) => boolean;

/**
 * Few parts, and long ones, are looked for one by one. Many are put in order: where no part begins with another, a binary
 * search finds the only one that the text can have at a position. The time hardly grows with the number of parts.
 */
export function createTextSearch(parts: readonly string[]): TextSearch {
  const { short, long } = splitByLength(parts);
  if (short.length < MANY) return (text) => containsAny(text, parts);
  const ordered = withoutExtensions(short.sort());
  return (text) => containsOrdered(text, ordered) || containsAny(text, long);
}

/** About microseconds for the longest value that a context may have. */
export function costOfTextSearch(parts: readonly string[]): number {
  const { short, long } = splitByLength(parts);
  const ofShort = short.length < MANY ? 50 * short.length : 300 * Math.ceil(Math.log2(short.length + 1));
  return ofShort + 50 * long.length;
}

function splitByLength(parts: readonly string[]): { readonly short: string[]; readonly long: string[] } {
  return { short: parts.filter(({ length }) => length <= SHORT), long: parts.filter(({ length }) => length > SHORT) };
}

/** Where a part begins with another one, the other one is found wherever it is. */
function withoutExtensions(sorted: readonly string[]): readonly string[] {
  let latest: string | undefined;
  return sorted.filter((part) => {
    if (latest !== undefined && part.startsWith(latest)) return false;
    latest = part;
    return true;
  });
}

function containsAny(text: string, parts: readonly string[]): boolean {
  for (const part of parts) if (text.includes(part)) return true;
  return false;
}

function containsOrdered(text: string, ordered: readonly string[]): boolean {
  // An empty part, in any text, stands before all others, which begin with it.
  if (ordered[0] === '') return true;
  for (let start = 0; start < text.length; start++) {
    let from = 0;
    let to = ordered.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const order = compareAt(text, start, ordered[middle] ?? '');
      if (order === 0) return true;
      if (order < 0) to = middle;
      else from = middle + 1;
    }
  }
  return false;
}

/** 0 where the text has the part at that position; else how the rest of the text is ordered relative to the part. */
function compareAt(text: string, start: number, part: string): number {
  const length = Math.min(part.length, text.length - start);
  for (let at = 0; at < length; at++) {
    const difference = text.charCodeAt(start + at) - part.charCodeAt(at);
    if (difference !== 0) return difference;
  }
  return length === part.length ? 0 : -1;
}
