import type { JsonSchema } from '@flags/core';
import { propertiesOf } from '../schema-properties.js';
import { unchecked } from '../unchecked.js';

/** Clients whose languages know no absent members, and proxies in front of them, send null for what they do not know. */
const NULL_WHEN_UNKNOWN: ReadonlySet<string> = new Set(['instanceId', 'sdkVersion', 'description', 'url', 'icon']);

/** The engine's rules for a registration or a report, where null is as good as absent. */
export function clientReportSchema(schema: JsonSchema): JsonSchema {
  const properties = Object.entries(propertiesOf(schema)).map(([name, property]) => [
    name,
    NULL_WHEN_UNKNOWN.has(name) ? { ...property, type: [property.type, 'null'] } : property,
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** What is no object stays as it is, for the engine to refuse. */
export function clientReportFromWire<Report extends object>(report: Report): Report {
  if (typeof report !== 'object' || report === null || Array.isArray(report)) return report;
  const known = Object.entries(report).filter(([name, value]) => !(value === null && NULL_WHEN_UNKNOWN.has(name)));
  return unchecked<Report>(Object.fromEntries(known));
}
