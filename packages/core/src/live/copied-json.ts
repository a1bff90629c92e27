type Members = Readonly<Record<string, unknown>>;

/**
 * A copy of a JSON value, made of a known one wherever the two are the same: the known one itself when all of it is. As in
 * JSON text, members that are `undefined` are left out, and items null; the order of members does not matter.
 */
export function copiedJson(value: unknown, known: unknown): unknown {
  if (value === known || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return copiedArray(value, Array.isArray(known) ? known : undefined);
  return copiedObject(value as Members, isObject(known) ? known : undefined);
}

function copiedArray(items: readonly unknown[], known: readonly unknown[] | undefined): readonly unknown[] {
  const copies = items.map((item, at) => copiedJson(item ?? null, known?.[at]));
  return known?.length === copies.length && copies.every((copy, at) => copy === known[at]) ? known : copies;
}

function copiedObject(value: Members, known: Members | undefined): Members {
  // A spread first, members replaced afterwards: `__proto__` stays a member.
  const copy: Record<string, unknown> = { ...value };
  let count = 0;
  let same = 0;
  for (const name of Object.keys(copy)) {
    const before = memberOf(known, name);
    const after = copiedJson(copy[name], before);
    if (after === undefined) {
      delete copy[name];
      continue;
    }
    copy[name] = after;
    count += 1;
    if (after === before) same += 1;
  }
  return known && same === count && Object.keys(known).length === count ? known : copy;
}

function memberOf(known: Members | undefined, name: string): unknown {
  return known && Object.hasOwn(known, name) ? known[name] : undefined;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
