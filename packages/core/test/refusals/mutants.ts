import type { JsonSchema } from '../../src/base/primitives.js';

/** An input that differs from a valid one in one place, with the words for it. */
export type Mutant = readonly [label: string, value: unknown];

type Schemas = Readonly<Record<string, JsonSchema>>;

/** Returns an input that a schema accepts, with all its members. */
function sampleOf(schema: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (Array.isArray(schema.anyOf)) return sampleOf(schema.anyOf[0]);
  switch (typesOf(schema)[0]) {
    case 'object':
      return Object.fromEntries(Object.entries(membersOf(schema)).map(([name, part]) => [name, sampleOf(part)]));
    case 'array':
      return schema.items ? [sampleOf(schema.items as JsonSchema)] : [];
    case 'integer':
    case 'number':
      return Math.max(1, Number(schema.minimum ?? 1));
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'string':
      return sampleText(schema);
    default:
      return 1;
  }
}

function sampleText({ format, pattern, minLength = 1 }: JsonSchema): string {
  if (format === 'date-time') return '2030-05-01T09:00:00Z';
  const isPointer = typeof pattern === 'string' && pattern.includes('~[01]');
  return isPointer ? '/a' : 'a'.repeat(Number(minLength));
}

/** Yields inputs that a schema probably refuses: each is wrong in one place, and the last ones in all. */
export function* mutantsOf(schema: JsonSchema): Generator<Mutant> {
  const sample = sampleOf(schema);
  yield* wholesOf(schema);
  yield* partsOf(schema, sample);
  yield* strayMembers(schema, sample);
  const names = Object.keys(membersOf(schema));
  if (names.length > 0) {
    yield ['every member is {}', Object.fromEntries(names.map((name) => [name, {}]))];
    yield ['every member is null', Object.fromEntries(names.map((name) => [name, null]))];
  }
}

function* wholesOf(schema: JsonSchema): Generator<Mutant> {
  for (const value of [null, 7, 'text', true, [], {}]) yield [`all is ${JSON.stringify(value)}`, value];
  yield ['all is a deep list', deepList(60)];
  yield* wrongValues(schema).map(([label, value]): Mutant => [`all ${label}`, value]);
}

function deepList(depth: number): unknown {
  return depth === 0 ? [] : [deepList(depth - 1)];
}

/** Yields values with one wrong place below the top. */
function* partsOf(schema: JsonSchema, sample: unknown, path = ''): Generator<Mutant> {
  for (const [name, part] of Object.entries(membersOf(schema))) {
    const at = `${path}/${name}`;
    const withMember = (value: unknown) => ({ ...Object(sample), [name]: value });
    for (const [label, value] of wrongValues(part)) yield [`${at} ${label}`, withMember(value)];
    for (const [label, value] of partsOf(part, sampleOf(part), at)) yield [label, withMember(value)];
    for (const [label, value] of strayMembers(part, sampleOf(part))) yield [`${at}: ${label}`, withMember(value)];
  }
  const { items, additionalProperties: values } = schema as Readonly<Record<string, JsonSchema | undefined>>;
  if (items) {
    for (const [label, value] of wrongValues(items)) yield [`${path}/1 ${label}`, [sampleOf(items), value]];
    for (const [label, value] of partsOf(items, sampleOf(items), `${path}/0`)) yield [label, [value]];
    for (const [label, value] of strayMembers(items, sampleOf(items))) yield [`${path}/0: ${label}`, [value]];
  }
  if (typeof values === 'object') {
    for (const [label, value] of wrongValues(values)) yield [`${path}/a~1b ${label}`, { 'a/b': value }];
    for (const [label, value] of partsOf(values, sampleOf(values), `${path}/a`)) yield [label, { a: value }];
  }
}

/** Yields objects that lack a member, or have one more. */
function* strayMembers(schema: JsonSchema, sample: unknown): Generator<Mutant> {
  if (!typesOf(schema).includes('object')) return;
  for (const name of (schema.required ?? []) as readonly string[]) {
    yield [`without ${name}`, { ...Object(sample), [name]: undefined }];
  }
  yield ['with one more', { ...Object(sample), 'of~no/use': 1 }];
}

function wrongValues(schema: JsonSchema): readonly Mutant[] {
  const types = typesOf(schema);
  const kinds: readonly Mutant[] = [
    ['is null', null],
    types.includes('string') ? ['is 7', 7] : ['is text', '7'],
    types.includes('object') ? ['is []', []] : ['is {}', {}],
  ];
  return [...kinds, ...types.flatMap((type) => wrongOf(type, schema))];
}

/** The longest text or list that a mutant has. */
const LONGEST = 20_000;

function wrongOf(type: string, schema: JsonSchema): readonly Mutant[] {
  const bound = (keyword: string) => (Number(schema[keyword]) < LONGEST ? Number(schema[keyword]) : undefined);
  if (type === 'string') {
    const most = bound('maxLength');
    return [
      ['is empty', ''],
      ['has a half of a character', 'a\ud800'],
      ['is two words', 'no such'],
      ['is two dots', '..'],
      ...(most === undefined ? [] : [['is too long', 'é'.repeat(most + 1)] as const]),
    ];
  }
  if (type === 'array') {
    const most = bound('maxItems');
    const item = sampleOf((schema.items ?? {}) as JsonSchema);
    return [
      ['is an empty list', []],
      ...(most === undefined ? [] : [['is too long', Array.from({ length: most + 1 }, () => item)] as const]),
    ];
  }
  if (type === 'integer' || type === 'number') {
    return [
      ['is a fraction', 1.5],
      ['is below', Number(schema.minimum ?? 0) - 1],
      ['is above', Number(schema.maximum ?? 0) + 2 ** 10],
    ];
  }
  if (type === 'object' && schema.maxProperties !== undefined) {
    const names = Array.from({ length: Number(schema.maxProperties) + 1 }, (_, index) => `m${index}`);
    return [['has too many members', Object.fromEntries(names.map((name) => [name, []]))]];
  }
  return [];
}

function membersOf(schema: JsonSchema): Schemas {
  return (schema.properties ?? {}) as Schemas;
}

function typesOf({ type }: JsonSchema): readonly string[] {
  return Array.isArray(type) ? type : type === undefined ? [] : [String(type)];
}
