/** The number of parts from which a sorted search is faster than searching each part. */
const SORTED_SEARCH_FROM = 100;
/**
 * In characters. The sorted search compares parts character by character at every position, so longer parts are
 * searched separately.
 */
const SORTED_SEARCH_LENGTH = 64;

/** The weight of a search for one part. */
const SEARCH = 50;
/** The weight of one comparison at every position, with a part that differs in its last character. */
const SORTED_STEP = 900;

/** Whether a text contains any of the parts. */
export type TextSearch = (text: string) => boolean;

/**
 * Creates a search. Few parts and long parts are searched one by one. Many short parts are sorted and reduced so that
 * none starts with another: at each position of the text, a binary search finds the only possible part. The time hardly
 * grows with the number of parts.
 */
export function createTextSearch(parts: readonly string[]): TextSearch {
  const { short, long } = splitByLength(parts);
  if (short.length < SORTED_SEARCH_FROM) return (text) => containsAny(text, parts);
  const ordered = withoutExtensions(short.sort());
  return (text) => containsOrdered(text, ordered) || containsAny(text, long);
}

/** Estimates the time for the longest possible context value; see `weight.ts` for the unit. */
export function weightOfTextSearch(parts: readonly string[]): number {
  const { short, long } = splitByLength(parts);
  const isSorted = short.length >= SORTED_SEARCH_FROM;
  const ofShort = isSorted ? SORTED_STEP * Math.ceil(Math.log2(short.length + 1)) : SEARCH * short.length;
  return ofShort + SEARCH * long.length;
}

function splitByLength(parts: readonly string[]): { readonly short: string[]; readonly long: string[] } {
  return {
    short: parts.filter(({ length }) => length <= SORTED_SEARCH_LENGTH),
    long: parts.filter(({ length }) => length > SORTED_SEARCH_LENGTH),
  };
}

/** Drops parts that start with another part, which would be found first. */
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
  // An empty part is in every text. It sorts first and is a prefix of all others.
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

/** Returns 0 if the text has the part at that position; otherwise how the rest of the text compares with the part. */
function compareAt(text: string, start: number, part: string): number {
  const length = Math.min(part.length, text.length - start);
  for (let at = 0; at < length; at++) {
    const difference = text.charCodeAt(start + at) - part.charCodeAt(at);
    if (difference !== 0) return difference;
  }
  return length === part.length ? 0 : -1;
}
