import fc from 'fast-check';

const LARGEST = 64 * 1024;
const DEPTH = 5_000;
const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'name',
  'parameters',
  'constraints',
  'value',
  'path',
  'ifRevision',
];

/** An unexpected argument, and its approximate size in bytes. */
export interface HostileValue {
  readonly value: unknown;
  readonly size: number;
}

/** An endless series of values of every JavaScript type, small and large. */
export function* hostileValues(seed: number): Generator<HostileValue, never> {
  const anything = fc.anything({
    maxDepth: 4,
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withObjectString: true,
    withSparseArray: true,
    withTypedArray: true,
  });
  const large = fc.nat({ max: LARGEST }).chain((size) => fc.constantFrom(...LARGE_VALUES.map((make) => make(size))));
  for (let round = 0; ; round++) {
    for (const value of fc.sample(fc.oneof(anything, anything, large), { numRuns: 100, seed: seed + round })) {
      yield { value, size: sizeOf(value) };
    }
  }
}

const LARGE_VALUES: readonly ((size: number) => unknown)[] = [
  (size) => 'x'.repeat(size),
  (size) => '\ud800'.repeat(size),
  (size) => Array.from({ length: Math.ceil(size / 40) }, (_, index) => ({ name: `flag-${index}`, weight: index })),
  (size) => Object.fromEntries(Array.from({ length: Math.ceil(size / 12) }, (_, index) => [`k${index}`, index])),
  (size) => Array.from({ length: Math.min(size, DEPTH) }).reduce<unknown>((inner) => ({ a: inner }), null),
  () => Object.fromEntries(NAMES.map((name) => [name, name])),
  () => () => undefined,
  () => Symbol('hostile'),
];

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (Array.isArray(value)) return 40 * value.length;
  return typeof value === 'object' && value !== null ? 12 * Object.keys(value).length : 8;
}

/** Replaces an argument of a call, or a member of one. The first argument stays an object. */
export function spoil(parameters: readonly unknown[], { value, size }: HostileValue): unknown[] {
  const place = size % parameters.length;
  const parameter = parameters[place];
  if (typeof parameter !== 'object' || parameter === null) return parameters.with(place, value);
  if (place > 0 && size % 3 === 0) return parameters.with(place, value);
  if (Array.isArray(parameter)) return parameters.with(place, [...parameter, value]);
  const names = [...Object.keys(parameter), ...NAMES];
  return parameters.with(place, { ...parameter, [names[size % names.length] ?? '']: value });
}
