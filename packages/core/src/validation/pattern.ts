import { RE2JS } from 're2js';
import { LIMITS } from './limits.js';

/**
 * What a pattern consists of: quoted text, escapes, classes, repetitions, and any other character for itself. What is not
 * closed goes on to the end; no text can be read in two ways, which would take exponential time.
 */
const TOKEN =
  /\\Q(.*?)(?:\\E|$)|\\[xpP]\{[^}]*(?:\}|$)|\\.|\[\^?\]?(?:\\(?:.|$)|\[:\w+:\]|[^\]\\])*(?:\]|$)|\{(\d+)(?:(,)(\d*))?\}|./gs;

/** Whether a text is a regular expression in RE2's syntax, which is matched in linear time, of a reasonable size. */
export function isPattern(text: string): boolean {
  if (text.length > LIMITS.pattern || weigh(text) > LIMITS.patternWeight) return false;
  try {
    RE2JS.compile(text);
    return true;
  } catch {
    return false;
  }
}

/** About how many instructions a pattern compiles to: repetitions are written out, those within others many times. */
function weigh(pattern: string): number {
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
      latest = 1;
      group += Math.max(1, quoted?.length ?? 1);
    }
  }
  return outer.reduce((sum, weight) => sum + weight, group);
}
