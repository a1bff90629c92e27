import type { InputSchemas, JsonSchema } from '@flags/core/integration';
import { propertiesOf, REFERRED, type SchemaSource, schemaFrom } from '../schema.js';

const CREATED = '2026-01-02T10:00:00.000Z';
const ID = '0b2e7c8e-6f5c-4a4a-9d3a-1f5a3c1b9e10';

/** Values of members, by name. A schema whose value has another meaning has an example of its own. */
const VALUES: Readonly<Record<string, unknown>> = {
  ...{ name: 'checkout', flag: 'checkout', feature: 'checkout', featureName: 'checkout', key: 'checkout' },
  ...{ project: 'default', projectId: 'default', projects: '*', environment: 'production', displayName: 'Production' },
  ...{ description: 'The new checkout', type: 'release', labels: 'team-shop', children: 'search' },
  ...{ actor: 'ada@example.org', createdBy: 'ada@example.org', owner: 'ada@example.org', reason: 'Launch' },
  ...{ appName: 'web', instanceId: 'web-1', clientIp: '192.0.2.1', tokenName: 'web', username: 'web' },
  ...{ seenToggles: 'checkout', seenApplications: 'web', strategies: 'default', maturity: 'stable' },
  ...{ contextName: 'userId', operator: 'IN', values: '7', userId: '7', stickiness: 'default', groupId: 'checkout' },
  ...{ weightType: 'variable', weight: 1000, rollout: 25, variant: 'blue', variants: null, offBecauseOf: null },
  ...{ kind: 'flag', documents: 'flag/checkout', path: '/environments/production/enabled', strategy: ID },
  ...{ id: '5d41402abc4b2a76', changeSet: '3f0c9e0e-5a53-4d0f-9d0e-5c1c8f2a7b11', before: 'off', after: 'on' },
  ...{ expiresAt: null, lastUsedAt: null, revision: 7, health: 100, roleId: 4, bucket: 12, totalWeight: 1000 },
  ...{ members: 1, memberCount: 1, featureCount: 1, activeCount: 1, strategyCount: 1, metricsCount: 10, total: 1 },
  ...{ totalEvents: 1, yes: 8, no: 2, enabled: true, feature_enabled: true, featureEnabled: true, holds: true },
  ...{ found: true, test: true, protected: true, dryRun: true, actions: 'getFlag' },
};

/**
 * Returns an example of a schema: its own, or one derived from its type and the name of the member.
 * Objects have their required members, and optional ones with a known value, lists and components.
 *
 * @param member the name of the member that has the value
 */
export function exampleOf(source: SchemaSource, inputs: InputSchemas, member = ''): unknown {
  const schema = described(schemaFrom(source, inputs));
  const { examples, anyOf, items, minimum, format } = schema;
  if (schema[REFERRED]) return exampleOf(schema[REFERRED], inputs, member);
  if (examples) return examples[0];
  if ('const' in schema) return schema.const;
  if (hasKnownValue(schema, member)) return VALUES[member];
  if (schema.enum) return schema.enum[0];
  if (anyOf?.[0]) return exampleOf(anyOf[0], inputs, member);
  switch (typesOf(schema)[0]) {
    case 'object':
      return exampleOfObject(schema, inputs);
    case 'array':
      return items ? [exampleOf(items, inputs, member)] : [];
    case 'integer':
    case 'number':
      return minimum ?? 1;
    case 'boolean':
      return false;
    case 'string':
      if (typesOf(schema).includes('null')) return null;
      return format === 'date-time' ? CREATED : format === 'uuid' ? ID : '';
    default:
      return null;
  }
}

interface Described extends JsonSchema {
  readonly [REFERRED]?: SchemaSource;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | false;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly type?: string | readonly string[];
  readonly format?: string;
}

function described(schema: JsonSchema): Described {
  return schema;
}

function typesOf({ type = [] }: Described): readonly string[] {
  return typeof type === 'string' ? [type] : type;
}

function hasKnownValue(schema: Described, member: string): boolean {
  const value = Object.hasOwn(VALUES, member) ? VALUES[member] : undefined;
  if (value === undefined || (schema.enum && !schema.enum.includes(value)) || schema.format === 'uuid') return false;
  const types = [schema, ...(schema.anyOf ?? [])].flatMap(typesOf);
  const type = value === null ? 'null' : typeof value;
  return types.includes(type) || (type === 'number' && types.includes('integer'));
}

function isShown(optional: Described): boolean {
  return (optional.examples ?? optional[REFERRED] ?? optional.items) !== undefined;
}

function exampleOfObject(schema: Described, inputs: InputSchemas): object {
  const { required = [], additionalProperties, properties } = schema;
  if (!properties) return additionalProperties ? { checkout: exampleOf(additionalProperties, inputs) } : {};
  const shown = Object.entries(propertiesOf(schema)).filter(
    ([name, property]) => required.includes(name) || isShown(property) || hasKnownValue(property, name),
  );
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property, inputs, name)]));
}
