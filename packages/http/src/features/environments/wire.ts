import { type EvaluatedVariant, type EvaluationContext, isFlagsError, LIMITS } from '@flags/core';
import { type InputSchemas, toProperties } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import type { ClientRegistration, FlagCounts, MetricsReport } from '@flags/core/types';
import { invalidInput, OFREP_ERROR_CODES } from '../../messages/errors.js';
import { unchecked } from '../../messages/request.js';
import { boolean, nullableText, objectComponent, propertyOf, text, variantName } from '../../messages/schema.js';
import { payloadSchema } from '../flags/wire.js';

/** A context in wire form, where null equals absent. Other members are properties. */
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
      maxProperties: LIMITS.contextProperties,
      description: 'Other fields. Lists and objects become text. Unknown members of the context belong here, too.',
    },
  },
};

export const frontendBodySchema: JsonSchema = {
  type: 'object',
  properties: { context: { ...contextSchema, type: ['object', 'null'] } },
};

/**
 * Converts a context. Unknown members are properties, as in Unleash; one in `properties` takes precedence. `clientIp` is
 * the address when the context has none.
 *
 * @throws FlagsError `invalid_input` for too many properties
 */
export function contextFromWire(context: WireContext, clientIp?: string): EvaluationContext {
  const { userId, sessionId, remoteAddress, environment, appName, currentTime, properties, ...others } = context;
  const all = toProperties({ ...others, ...properties });
  const count = Object.keys(all).length;
  if (count > LIMITS.contextProperties) {
    const message = `must NOT have more than ${LIMITS.contextProperties} properties, with its unknown members`;
    throw invalidInput([{ message, path: '/context/properties' }]);
  }
  return {
    userId: userId ?? undefined,
    sessionId: sessionId ?? undefined,
    remoteAddress: remoteAddress ?? clientIp,
    environment: environment ?? undefined,
    appName: appName ?? undefined,
    currentTime: currentTime ?? undefined,
    properties: count === 0 ? undefined : all,
  };
}

/** Some client languages and proxies send null for unknown members. */
type OrNull<Members> = { readonly [Name in keyof Members]: Members[Name] | null };

/** A registration in wire form. Other members are ignored. */
export interface WireRegistration
  extends OrNull<Pick<ClientRegistration, 'sdkVersion' | 'description' | 'url' | 'color' | 'icon'>> {
  readonly appName: string;
  readonly instanceId?: string | null;
  readonly strategies: readonly string[];
}

/** A report in wire form. Other members are ignored. */
export interface WireReport {
  readonly appName: string;
  readonly instanceId?: string | null;
  readonly environment?: string | null;
  readonly bucket: Pick<MetricsReport, 'start' | 'stop'> & { readonly toggles: MetricsReport['counts'] };
}

/** Returns the schema of a registration in wire form, based on the engine's schemas. */
export function registrationSchema({ registration, metricsReport }: InputSchemas): JsonSchema {
  const orNull = (name: string) => nullable(propertyOf(registration, name));
  return {
    type: 'object',
    properties: {
      appName: propertyOf(registration, 'application'),
      instanceId: orNull('instance'),
      sdkVersion: orNull('sdkVersion'),
      strategies: propertyOf(registration, 'strategies'),
      started: propertyOf(metricsReport, 'start'),
      interval: { type: 'number', minimum: 0 },
      description: orNull('description'),
      url: orNull('url'),
      color: propertyOf(registration, 'color'),
      icon: orNull('icon'),
    },
    required: ['appName', 'strategies', 'started', 'interval'],
  };
}

/** Returns the schema of a report in wire form, based on the engine's schema. */
export function reportSchema({ metricsReport }: InputSchemas): JsonSchema {
  const [start, stop, toggles] = ['start', 'stop', 'counts'].map((name) => propertyOf(metricsReport, name));
  return {
    type: 'object',
    properties: {
      appName: propertyOf(metricsReport, 'application'),
      instanceId: nullable(propertyOf(metricsReport, 'instance')),
      environment: nullable(propertyOf(metricsReport, 'environment')),
      bucket: { type: 'object', properties: { start, stop, toggles }, required: ['start', 'stop', 'toggles'] },
    },
    required: ['appName', 'bucket'],
  };
}

function nullable(schema: JsonSchema): JsonSchema {
  return { ...schema, type: [schema.type, 'null'] };
}

/** Converts a registration. Copies known members only, because a body may have very many. */
export function registrationFromWire(wire: WireRegistration): ClientRegistration {
  const { appName: application, instanceId: instance, sdkVersion, strategies, description, url, color, icon } = wire;
  return {
    application,
    ...withoutNulls({ instance, sdkVersion, description, url, icon }),
    ...(color !== undefined && { color }),
    strategies,
  };
}

/** Converts a report. Copies known members only. */
export function reportFromWire({ appName: application, instanceId, environment, bucket }: WireReport): MetricsReport {
  const { start, stop, toggles: counts } = bucket;
  return { application, ...withoutNulls({ instance: instanceId, environment }), start, stop, counts };
}

function withoutNulls<Name extends string>(
  members: Readonly<Record<Name, string | null | undefined>>,
): { readonly [Member in Name]?: string } {
  const present = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  return unchecked<{ readonly [Member in Name]?: string }>(Object.fromEntries(present));
}

/** The places of issues that only the engine finds, because a schema cannot state them. */
const WIRE_PLACES: readonly (readonly [engine: string, wire: string])[] = [
  ['/stop', '/bucket/stop'],
  ['/registrations', '/applications'],
];

/** Returns the refusal of a report or registration, with the places of the wire. */
export function refusalToWire(error: unknown): unknown {
  if (!isFlagsError(error) || error.code !== 'invalid_input') return error;
  return invalidInput(error.details.map(({ message, path = '' }) => ({ message, path: placeOnWire(path) })));
}

function placeOnWire(path: string): string {
  const [engine = '', wire = ''] = WIRE_PLACES.find(([place]) => path.startsWith(place)) ?? [];
  return `${wire}${path.slice(engine.length)}`;
}

/** The request body of proxies: registrations of their clients, and counts per flag. */
export interface WireBulk {
  readonly applications?: readonly WireBulkApplication[];
  readonly metrics?: readonly WireBulkMetric[];
}

/** Limits per request. They bound the writes of one request. */
const MAX_APPLICATIONS = 1000;
const MAX_METRICS = 10_000;

type WireBulkApplication = Pick<WireRegistration, 'appName'> & Partial<WireRegistration>;

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
export function bulkSchema(inputs: InputSchemas): JsonSchema {
  const { metricsReport } = inputs;
  const flags = propertyOf(metricsReport, 'counts') as { readonly propertyNames: JsonSchema };
  const counts = propertyOf(metricsReport, 'counts').additionalProperties as JsonSchema;
  const metric: JsonSchema = {
    type: 'object',
    properties: {
      appName: propertyOf(metricsReport, 'application'),
      featureName: flags.propertyNames,
      environment: nullable(propertyOf(metricsReport, 'environment')),
      timestamp: propertyOf(metricsReport, 'stop'),
      yes: propertyOf(counts, 'yes'),
      no: propertyOf(counts, 'no'),
      variants: propertyOf(counts, 'variants'),
    },
    required: ['appName', 'featureName', 'timestamp', 'yes', 'no'],
  };
  const application = { ...registrationSchema(inputs), required: ['appName'] };
  return {
    type: 'object',
    properties: {
      applications: { type: 'array', maxItems: MAX_APPLICATIONS, items: application },
      metrics: { type: 'array', maxItems: MAX_METRICS, items: metric },
    },
  };
}

/** Converts the applications of a proxy, which may omit their strategies. */
export function registrationsFromWire({ applications = [] }: WireBulk): readonly ClientRegistration[] {
  return applications.map((application) => registrationFromWire({ strategies: [], ...application }));
}

/** Returns one report per application, environment and time bucket. */
export function reportsFromWire({ metrics = [] }: WireBulk): readonly MetricsReport[] {
  const reports = new Map<string, MetricsReport & { readonly sums: Map<string, FlagCounts> }>();
  for (const metric of metrics) {
    const key = JSON.stringify([metric.appName, metric.environment, metric.timestamp]);
    const report = reports.get(key) ?? { ...emptyReport(metric), sums: new Map() };
    reports.set(key, report);
    count(report.sums, metric);
  }
  return [...reports.values()].map(({ sums, ...report }) => ({ ...report, counts: Object.fromEntries(sums) }));
}

function emptyReport({ appName: application, environment, timestamp }: WireBulkMetric): MetricsReport {
  return { application, ...withoutNulls({ environment }), start: timestamp, stop: timestamp, counts: {} };
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

export const evaluatedVariantSchema = objectComponent(
  'EvaluatedVariant',
  {
    name: { ...variantName, description: 'The name of the variant; `disabled` if there is none.' },
    enabled: { ...boolean, description: 'Whether there is a variant.' },
    feature_enabled: { ...boolean, description: 'Whether the flag is on.' },
    featureEnabled: { ...boolean, description: 'The same as feature_enabled.' },
  },
  { payload: payloadSchema },
);

/** Older SDKs read `feature_enabled`, newer ones `featureEnabled`. */
export function evaluatedVariantToWire({ name, enabled, flagEnabled, payload }: EvaluatedVariant) {
  return { name, enabled, feature_enabled: flagEnabled, featureEnabled: flagEnabled, ...(payload && { payload }) };
}

export const ofrepFailureSchema = objectComponent(
  'OfrepFailure',
  { errorCode: { type: 'string', enum: OFREP_ERROR_CODES }, errorDetails: text },
  { key: { type: 'string', description: 'The requested flag; absent in responses about all flags.' } },
);
