import { type EvaluationContext, LIMITS } from '@flags/core';
import type { InputSchemas, JsonSchema } from '@flags/core/integration';
import type { ClientRegistration, FlagCounts, MetricsReport } from '@flags/core/types';
import { unchecked } from '../body.js';
import { nullableText, propertiesOf, propertyOf } from '../schema.js';

/** A context in wire form, where null equals absent. */
export interface WireContext {
  readonly userId?: string | number | null;
  readonly sessionId?: string | number | null;
  readonly remoteAddress?: string | null;
  readonly environment?: string | null;
  readonly appName?: string | null;
  readonly currentTime?: string | null;
  readonly properties?: Readonly<Record<string, unknown>> | null;
}

const id: JsonSchema = { type: ['string', 'number', 'null'] };

export const contextSchema: JsonSchema = {
  type: 'object',
  properties: {
    userId: id,
    sessionId: id,
    remoteAddress: nullableText,
    environment: {
      ...nullableText,
      description: 'Value for constraints on `environment`. It does not select the environment of the evaluation.',
    },
    appName: nullableText,
    currentTime: { ...nullableText, description: 'Time of the evaluation, in ISO 8601. Default: now.' },
    properties: {
      type: ['object', 'null'],
      additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
      maxProperties: LIMITS.contextProperties,
    },
  },
};

export const frontendBodySchema: JsonSchema = {
  type: 'object',
  properties: { context: { ...contextSchema, type: ['object', 'null'] } },
};

/** Converts a context. `clientIp` is the address when the context has none. */
export function contextFromWire(context: WireContext, clientIp?: string): EvaluationContext {
  const { userId, sessionId, remoteAddress, environment, appName, currentTime, properties } = context;
  return {
    userId: userId ?? undefined,
    sessionId: sessionId ?? undefined,
    remoteAddress: remoteAddress ?? clientIp,
    environment: environment ?? undefined,
    appName: appName ?? undefined,
    currentTime: currentTime ?? undefined,
    properties: properties ?? undefined,
  };
}

/** Some client languages and proxies send null for unknown members. */
const NULL_WHEN_UNKNOWN: ReadonlySet<string> = new Set([
  ...['instanceId', 'sdkVersion', 'environment', 'description', 'url', 'icon'],
]);

/** Returns the engine's schema of a registration or report, extended to accept null for absent members. */
export function clientReportSchema(schema: JsonSchema): JsonSchema {
  const properties = Object.entries(propertiesOf(schema)).map(([name, property]) => [
    name,
    NULL_WHEN_UNKNOWN.has(name) ? { ...property, type: [property.type, 'null'] } : property,
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** The members that the engine reads. Other members are not copied, because a body may have very many. */
const READ_MEMBERS = [
  ...NULL_WHEN_UNKNOWN,
  ...['appName', 'strategies', 'started', 'interval', 'color', 'bucket'],
] as const;

/** Returns a value that is not an object unchanged, so that the engine reports it. */
export function clientReportFromWire<Report extends object>(report: Report): Report {
  if (typeof report !== 'object' || report === null || Array.isArray(report)) return report;
  const members = unchecked<Readonly<Record<string, unknown>>>(report);
  const known = READ_MEMBERS.flatMap((name) => {
    const isGiven = Object.hasOwn(members, name) && !(members[name] === null && NULL_WHEN_UNKNOWN.has(name));
    return isGiven ? [[name, members[name]]] : [];
  });
  return unchecked<Report>(Object.fromEntries(known));
}

/** The request body of proxies: registrations of their clients, and counts per flag. */
export interface WireBulk {
  readonly applications?: readonly WireBulkApplication[];
  readonly metrics?: readonly WireBulkMetric[];
}

/** Limits per request. They bound the writes of one request. */
const MAX_APPLICATIONS = 1000;
const MAX_METRICS = 10_000;

type WireBulkApplication = Pick<ClientRegistration, 'appName'> & Partial<ClientRegistration>;

interface WireBulkMetric {
  readonly appName: string;
  readonly featureName: string;
  readonly environment?: string | null;
  readonly timestamp: string | number;
  readonly yes: number;
  readonly no: number;
  readonly variants?: FlagCounts['variants'];
}

/** Returns the schema of a proxy's body, based on the engine's schemas of registrations and reports. */
export function bulkSchema({ registration, metricsReport }: InputSchemas): JsonSchema {
  const bucket = propertyOf(metricsReport, 'bucket');
  const toggles = propertyOf(bucket, 'toggles') as { readonly propertyNames: JsonSchema };
  const counts = propertyOf(bucket, 'toggles').additionalProperties as JsonSchema;
  const metric: JsonSchema = {
    type: 'object',
    properties: {
      appName: propertyOf(metricsReport, 'appName'),
      featureName: toggles.propertyNames,
      environment: propertyOf(clientReportSchema(metricsReport), 'environment'),
      timestamp: propertyOf(bucket, 'stop'),
      yes: propertyOf(counts, 'yes'),
      no: propertyOf(counts, 'no'),
      variants: propertyOf(counts, 'variants'),
    },
    required: ['appName', 'featureName', 'timestamp', 'yes', 'no'],
  };
  const application = {
    type: 'object',
    properties: propertiesOf(clientReportSchema(registration)),
    required: ['appName'],
  };
  return {
    type: 'object',
    properties: {
      applications: { type: 'array', maxItems: MAX_APPLICATIONS, items: application },
      metrics: { type: 'array', maxItems: MAX_METRICS, items: metric },
    },
  };
}

/** Adds the members of an application that proxies omit. */
export function registrationsFromWire({ applications = [] }: WireBulk, now: Date): readonly ClientRegistration[] {
  const unknown = { strategies: [], started: now.toISOString(), interval: 0 };
  return applications.map((application) => ({ ...unknown, ...clientReportFromWire(application) }));
}

/** Returns one report per application, environment and time bucket. */
export function reportsFromWire({ metrics = [] }: WireBulk): readonly MetricsReport[] {
  const reports = new Map<string, MetricsReport & { readonly counts: Map<string, FlagCounts> }>();
  for (const metric of metrics) {
    const key = JSON.stringify([metric.appName, metric.environment, metric.timestamp]);
    const report = reports.get(key) ?? { ...emptyReport(metric), counts: new Map() };
    reports.set(key, report);
    count(report.counts, metric);
  }
  return [...reports.values()].map(({ counts, bucket, ...report }) => ({
    ...report,
    bucket: { ...bucket, toggles: Object.fromEntries(counts) },
  }));
}

function emptyReport({ appName, environment, timestamp }: WireBulkMetric): MetricsReport {
  const bucket = { start: timestamp, stop: timestamp, toggles: {} };
  return { appName, ...(typeof environment === 'string' && { environment }), bucket };
}

function count(counts: Map<string, FlagCounts>, { featureName, yes, no, variants }: WireBulkMetric): void {
  const previous = counts.get(featureName);
  if (previous === undefined) {
    counts.set(featureName, { yes, no, ...(variants && { variants }) });
    return;
  }
  const sums = new Map(Object.entries(previous.variants ?? {}));
  for (const [name, added] of Object.entries(variants ?? {})) sums.set(name, sum(sums.get(name) ?? 0, added));
  counts.set(featureName, {
    yes: sum(previous.yes, yes),
    no: sum(previous.no, no),
    ...(sums.size > 0 && { variants: Object.fromEntries(sums) }),
  });
}

/** Limits the sum to a safe integer, because the engine refuses others. */
function sum(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}
