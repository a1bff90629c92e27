import type { JsonSchema } from '../src/base/primitives.js';

/*
 * The largest and the smallest values that a schema admits. Each value has one extreme place, so that a limit of the
 * whole does not hide what the place does.
 */

/** Beyond it, a list of a schema is shortened: the test of limits has the whole one. */
const LONGEST_LIST = 1_001;
const LONGEST_TEXT = 100_000;
const UNBOUNDED = Number.MAX_VALUE;
const EARLIEST = '0000-01-01T00:00:00Z';
const LATEST = '9999-12-31T23:59:59.999Z';

interface AnySchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: AnySchema;
  readonly properties?: Readonly<Record<string, AnySchema>>;
  readonly additionalProperties?: AnySchema | false;
  readonly required?: readonly string[];
}

export function extremesOf(schema: JsonSchema): readonly unknown[] {
  return extremes(schema);
}

function extremes(schema: AnySchema): readonly unknown[] {
  if (schema.enum) return schema.enum;
  if ('const' in schema) return [schema.const];
  return typesOf(schema).flatMap((type) => EXTREMES[type]?.(schema) ?? []);
}

function smallest(schema: AnySchema, place = 0): unknown {
  if (schema.enum) return schema.enum[0];
  if ('const' in schema) return schema.const;
  const [type] = typesOf(schema);
  if (type === 'object') {
    const { required = [], properties = {} } = schema;
    return Object.fromEntries(required.map((name) => [name, smallest(properties[name] ?? {}, place)]));
  }
  if (type === 'array') return [];
  if (type === 'string') return schema.format ? LATEST : `n${place}`.slice(0, schema.maxLength);
  if (type === 'boolean') return false;
  return Math.max(place, schema.minimum ?? 0);
}

function typesOf({ type, properties, items }: AnySchema): readonly string[] {
  if (type !== undefined) return [type].flat();
  return properties ? ['object'] : items ? ['array'] : [];
}

const EXTREMES: Readonly<Record<string, (schema: AnySchema) => readonly unknown[]>> = {
  null: () => [null],
  boolean: () => [true, false],
  integer: numbers,
  number: numbers,
  string({ format, minLength = 0, maxLength = 10_000 }) {
    if (format) return [EARLIEST, LATEST];
    return ['a'.repeat(minLength), 'z'.repeat(Math.min(maxLength, LONGEST_TEXT))];
  },
  array({ items = {}, maxItems = LONGEST_LIST }) {
    const most = Math.min(maxItems, LONGEST_LIST);
    const full = Array.from({ length: most }, (_, place) => smallest(items, place + 1));
    return [[], full, ...extremes(items).map((one) => [one])];
  },
  object(schema) {
    const { properties = {}, additionalProperties, maxProperties = 100 } = schema;
    const base = smallest(schema) as object;
    const named = Object.entries(properties).flatMap(([name, property]) =>
      extremes(property).map((one) => ({ ...base, [name]: one })),
    );
    if (!additionalProperties) return [base, ...named];
    const names = Array.from({ length: maxProperties }, (_, place) => `n${place}`);
    const full = Object.fromEntries(names.map((name) => [name, smallest(additionalProperties)]));
    return [base, ...named, full, ...extremes(additionalProperties).map((one) => ({ ...base, production: one }))];
  },
};

function numbers({ minimum = -UNBOUNDED, maximum = UNBOUNDED }: AnySchema): readonly number[] {
  return [minimum, maximum];
}
