/** No input of this API nests deeper than a few levels; deeper JSON would exhaust the stack of what works on it. */
export const MAX_DEPTH = 32;
/**
 * Of arrays, objects and members in a body. The largest report that is taken, of 10,000 flags with variants, has fewer.
 * Parsing a body of 1 MiB that is nothing but `[]` makes 40 MiB of objects.
 */
export const MAX_STRUCTURE = 100_000;

const QUOTE = 34;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Which limit a JSON text exceeds, told without parsing it. What is no JSON is left to the parser. */
export function findExcess(text: string): 'depth' | 'structure' | undefined {
  let depth = 0;
  let structure = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COLON) structure++;
    else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth--;
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      structure++;
      depth++;
      if (depth > MAX_DEPTH) return 'depth';
    }
    if (structure > MAX_STRUCTURE) return 'structure';
  }
  return undefined;
}

/** Where the string that begins there ends. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    const isEscaped = (end - before) % 2 === 0;
    if (!isEscaped) return end;
  }
  return text.length;
}
