/**
 * What a pattern consists of: quoted text, escapes, classes, repetitions, and any other character for itself. What is not
 * closed goes on to the end; no text can be read in two ways, which would take exponential time.
 */
const TOKEN =
  /\\Q(.*?)(?:\\E|$)|\\[xpP]\{[^}]*(?:\}|$)|\\.|\[\^?\]?(?:\\(?:.|$)|\[:\w+:\]|[^\]\\])*(?:\]|$)|\{(\d+)(?:(,)(\d*))?\}|./gs;

/** A class by Unicode property has hundreds of ranges: it takes ten times as long to compile. */
const UNICODE_CLASS = 10;

/**
 * About how many instructions a pattern compiles to: repetitions are written out, those within others many times. The time
 * of a match grows with it. Groups, repetitions and classes of Unicode count extra.
 */
export function patternWeight(pattern: string): number {
  const outer: number[] = [];
  let group = 0;
  let latest = 0;
  for (const [token, quoted, least, comma = '', most] of pattern.matchAll(TOKEN)) {
    if (token === '(') {
      outer.push(group);
      group = 0;
      latest = 0;
    } else if (token === ')') {
      latest = group;
      group += outer.pop() ?? 0;
    } else if (least !== undefined) {
      const times = Math.max(1, Number(most || least) + (comma && !most ? 1 : 0));
      group += latest * (times - 1);
      latest *= times;
    } else {
      latest = /\\[pP]/.test(token) ? UNICODE_CLASS : 1;
      group += quoted === undefined ? latest : Math.max(1, quoted.length);
    }
  }
  return outer.reduce((sum, weight) => sum + weight, group);
}
