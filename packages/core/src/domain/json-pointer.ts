const ARRAY_INDEX = /^(?:0|[1-9]\d*)$/;

/** The reference tokens of a JSON Pointer (RFC 6901), unescaped; none for the whole document. */
export function parsePointer(pointer: string): readonly string[] {
  return pointer.split('/').slice(1).map(unescapeToken);
}

/** The top-level member that a JSON Pointer leads through; '' for the whole document. */
export function topMember(pointer: string): string {
  return parsePointer(pointer)[0] ?? '';
}

/**
 * Says what is missing where a JSON Pointer leads: `existing` wants the target itself, `insertable` a place where it can
 * be put. Only own members count, and array indexes have no leading zeros. Undefined when nothing is missing.
 */
export function findMissingTarget(
  document: unknown,
  pointer: string,
  target: 'existing' | 'insertable',
): string | undefined {
  const tokens = [...parsePointer(pointer)];
  const last = tokens.pop();
  if (last === undefined) return undefined;
  let container = document;
  for (const token of tokens) {
    if (!hasChild(container, token)) return `leads nowhere: there is no ${token}`;
    container = childOf(container, token);
  }
  const found = target === 'existing' ? hasChild(container, last) : canInsert(container, last);
  return found ? undefined : `leads nowhere: there is no place ${last}`;
}

/** The member or item of a container that has it. */
export function childOf(container: unknown, token: string): unknown {
  return (container as Readonly<Record<string, unknown>>)[token];
}

function hasChild(container: unknown, token: string): boolean {
  if (Array.isArray(container)) return ARRAY_INDEX.test(token) && Number(token) < container.length;
  return isObject(container) && Object.hasOwn(container, token);
}

function canInsert(container: unknown, token: string): boolean {
  if (!Array.isArray(container)) return isObject(container);
  return token === '-' || (ARRAY_INDEX.test(token) && Number(token) <= container.length);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function unescapeToken(token: string): string {
  // Nearly all have nothing to unescape, and a patch may have half a million of them.
  return token.includes('~') ? token.replaceAll('~1', '/').replaceAll('~0', '~') : token;
}
