import type { Definitions, VariantInput } from '@flags/core';

/** Returns the TypeScript source that declares the flags of a store. */
export function toSchemaSource({ flags = [] }: Definitions, environments: readonly string[]): string {
  const live = flags.filter(({ archived }) => archived !== true);
  const declarations = live.map(({ name, type, description, project, variants = [] }) => {
    const members = {
      ...(type !== undefined && { type }),
      ...(description && { description }),
      ...(project !== undefined && project !== 'default' && { project }),
      ...(variants.length > 0 && { variants: describeVariants(variants) }),
    };
    return `    ${toKey(name)}: ${toSource(members)},\n`;
  });
  return `import { defineFlags } from '@flags/core';

export const schema = defineFlags(
  {
${declarations.join('')}  },
  { environments: ${toSource(environments)} },
);
`;
}

function describeVariants(variants: readonly VariantInput[]): unknown {
  if (variants.every(({ payload }) => payload === undefined)) return variants.map(({ name }) => name);
  return new Map(variants.map(({ name, payload }) => [name, payload ? describePayload(payload) : null]));
}

function describePayload({ type, value }: NonNullable<VariantInput['payload']>): unknown {
  if (type === 'number') return 'number';
  if (type !== 'json') return 'string';
  return describeValue(JSON.parse(value)) ?? null;
}

/** Returns undefined for a value that no description fits, such as null. */
function describeValue(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return typeof value;
  if (Array.isArray(value)) {
    const types = new Set(value.map((item) => typeof item));
    const [type] = types;
    return types.size === 1 && (type === 'string' || type === 'number' || type === 'boolean') ? `${type}[]` : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const members = Object.entries(value).map(([name, member]) => [name, describeValue(member)] as const);
  return new Map(members.filter(([, description]) => description !== undefined));
}

/** Writes a value as TypeScript. Maps are objects, whose keys may be `__proto__`. */
function toSource(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toSource).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return toText(value);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  if (entries.length === 0) return '{}';
  return `{ ${entries.map(([name, member]) => `${toKey(name)}: ${toSource(member)}`).join(', ')} }`;
}

function toText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  const inner = JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`;
}

function toKey(name: string): string {
  if (name === '__proto__') return `['__proto__']`;
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : toText(name);
}
