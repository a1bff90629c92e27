const NUMBER = '(?:0|[1-9]\\d*)';
const PRERELEASE_PART = `(?:${NUMBER}|\\d*[a-zA-Z-][0-9a-zA-Z-]*)`;
const BUILD = '[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*';
const SEMVER = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${PRERELEASE_PART}(?:\\.${PRERELEASE_PART})*)?(?:\\+${BUILD})?$`,
);

/** Whether a text is a version by semver 2.0, to the letter: no `v`, no white space, no leading zeros. */
export function isSemver(text: string): boolean {
  return SEMVER.test(text);
}

/**
 * Orders two versions by semver 2.0: negative, zero or positive; build metadata does not count. Both must be versions.
 * It walks over the texts, because parsing would allocate.
 */
export function compareSemver(a: string, b: string): number {
  const endA = endOfPrecedence(a);
  const endB = endOfPrecedence(b);
  const coreA = endOfCore(a, endA);
  const coreB = endOfCore(b, endB);
  const core = compareParts({ text: a, start: 0, end: coreA }, { text: b, start: 0, end: coreB });
  if (core !== 0) return core;
  if (coreA === endA || coreB === endB) return Number(coreA === endA) - Number(coreB === endB);
  return compareParts({ text: a, start: coreA + 1, end: endA }, { text: b, start: coreB + 1, end: endB });
}

interface Span {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function endOfPrecedence(version: string): number {
  const plus = version.indexOf('+');
  return plus < 0 ? version.length : plus;
}

function endOfCore(version: string, end: number): number {
  const dash = version.indexOf('-');
  return dash < 0 || dash > end ? end : dash;
}

/** Compares dot-separated identifiers one by one; of two lists that begin alike the longer one is greater. */
function compareParts(a: Span, b: Span): number {
  let atA = a.start;
  let atB = b.start;
  while (atA < a.end && atB < b.end) {
    const endA = endOfPart(a, atA);
    const endB = endOfPart(b, atB);
    const order = compareIdentifiers({ text: a.text, start: atA, end: endA }, { text: b.text, start: atB, end: endB });
    if (order !== 0) return order;
    atA = endA + 1;
    atB = endB + 1;
  }
  return Number(atA < a.end) - Number(atB < b.end);
}

function endOfPart(span: Span, from: number): number {
  const dot = span.text.indexOf('.', from);
  return dot < 0 || dot > span.end ? span.end : dot;
}

function compareIdentifiers(a: Span, b: Span): number {
  const numericA = isNumeric(a);
  if (numericA !== isNumeric(b)) return numericA ? -1 : 1;
  if (numericA && a.end - a.start !== b.end - b.start) return a.end - a.start - (b.end - b.start);
  return compareUnits(a, b);
}

function isNumeric(span: Span): boolean {
  for (let at = span.start; at < span.end; at++) {
    const unit = span.text.charCodeAt(at);
    if (unit < 0x30 || unit > 0x39) return false;
  }
  return true;
}

function compareUnits(a: Span, b: Span): number {
  const length = Math.min(a.end - a.start, b.end - b.start);
  for (let at = 0; at < length; at++) {
    const order = a.text.charCodeAt(a.start + at) - b.text.charCodeAt(b.start + at);
    if (order !== 0) return order;
  }
  return a.end - a.start - (b.end - b.start);
}
