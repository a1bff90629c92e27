/**
 * Whether two JSON values are the same; the order of members does not matter. Unlike Node's own comparison it does not
 * look at prototypes, which differ where a test runner gives each test file a realm of its own.
 */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!isContainer(one) || !isContainer(other) || Array.isArray(one) !== Array.isArray(other)) return false;
  const members = Object.keys(one);
  if (members.length !== Object.keys(other).length) return false;
  return members.every((member) => Object.hasOwn(other, member) && isSameJson(one[member], other[member]));
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
