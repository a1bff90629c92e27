import type { ErrorDetail } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import {
  clientTime,
  type JsonSchema,
  type ObjectSchema,
  parseClientTime,
  possiblyEmptyText,
  text,
  textInPaths,
} from '../../base/primitives.js';
import type { BulkReport, ClientRegistration, FlagCounts, MetricsReport, UsageFilter } from './usage.types.js';

const count: JsonSchema = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

const counts: ObjectSchema<FlagCounts> = {
  type: 'object',
  properties: {
    yes: count,
    no: count,
    variants: { type: 'object', maxProperties: LIMITS.variantsPerReportedFlag, additionalProperties: count },
  },
  required: ['yes', 'no'],
};

export const registration: ObjectSchema<ClientRegistration> = {
  type: 'object',
  properties: {
    application: textInPaths(LIMITS.reportedName),
    instance: possiblyEmptyText(LIMITS.reportedName),
    sdkVersion: possiblyEmptyText(LIMITS.reportedName),
    strategies: { type: 'array', maxItems: LIMITS.strategiesPerRegistration, items: text(LIMITS.label) },
    description: possiblyEmptyText(LIMITS.shortDescription),
    url: possiblyEmptyText(LIMITS.shortDescription),
    color: { type: ['string', 'null'], maxLength: LIMITS.label },
    icon: possiblyEmptyText(LIMITS.shortDescription),
  },
  required: ['application', 'strategies'],
};

export const metricsReport: ObjectSchema<MetricsReport> = {
  type: 'object',
  properties: {
    application: textInPaths(LIMITS.reportedName),
    instance: possiblyEmptyText(LIMITS.reportedName),
    environment: possiblyEmptyText(LIMITS.reportedName),
    start: clientTime,
    stop: clientTime,
    counts: {
      type: 'object',
      maxProperties: LIMITS.flagsPerReport,
      propertyNames: text(LIMITS.reportedName),
      additionalProperties: counts,
    },
  },
  required: ['application', 'start', 'stop', 'counts'],
};

export const bulkReport: ObjectSchema<BulkReport> = {
  type: 'object',
  properties: {
    registrations: { type: 'array', maxItems: LIMITS.applicationsPerBatch, items: registration },
    reports: { type: 'array', maxItems: LIMITS.metricsPerBatch, items: metricsReport },
  },
};

export const usageFilter: ObjectSchema<UsageFilter> = {
  type: 'object',
  properties: {
    flag: text(LIMITS.name),
    environment: text(LIMITS.name),
    application: text(LIMITS.reportedName),
    hours: { type: 'integer', minimum: 1, maximum: LIMITS.usageHours },
    days: { type: 'integer', minimum: 1, maximum: LIMITS.usageDays },
  },
};

export function findUsageIssues({ hours, days }: UsageFilter): readonly ErrorDetail[] {
  if (hours === undefined || days === undefined) return [];
  return [{ message: 'must be absent if hours is given: ask for one of them', path: '/days' }];
}

function findRegistrationIssues(registration: ClientRegistration): readonly ErrorDetail[] {
  const size = sizeOf(registration);
  if (size <= LIMITS.registrationSize) return [];
  const message = `must have at most ${LIMITS.registrationSize} bytes of JSON, not ${size}: name fewer strategies`;
  return [{ message, path: '/strategies' }];
}

function findPeriodIssues(report: MetricsReport): readonly ErrorDetail[] {
  const [start = 0, stop = 0] = [parseClientTime(report.start), parseClientTime(report.stop)];
  return stop < start ? [{ message: 'must not be before start', path: '/stop' }] : [];
}

function findBulkIssues({ registrations = [], reports = [] }: BulkReport): readonly ErrorDetail[] {
  const flags = reports.reduce((sum, report) => sum + Object.keys(report.counts).length, 0);
  if (flags > LIMITS.metricsPerBatch) {
    return [{ message: `must not count more than ${LIMITS.metricsPerBatch} flags in all`, path: '/reports' }];
  }
  const size = registrations.reduce((sum, registration) => sum + sizeOf(registration), 0);
  if (size > LIMITS.registrationsSizePerBatch) {
    const message = `must have at most ${LIMITS.registrationsSizePerBatch} bytes of JSON in all, not ${size}: send several batches`;
    return [{ message, path: '/registrations' }];
  }
  return [
    ...registrations.flatMap((registration, index) =>
      findRegistrationIssues(registration).map((fault) => within(`/registrations/${index}`, fault)),
    ),
    ...reports.flatMap((report, index) => findPeriodIssues(report).map((fault) => within(`/reports/${index}`, fault))),
  ];
}

/** What a schema cannot say about the inputs that followers receive too. */
export const REPORT_CHECKS = {
  registration: findRegistrationIssues,
  metricsReport: findPeriodIssues,
  bulkReport: findBulkIssues,
} as const;

function within(parent: string, { message, path }: ErrorDetail): ErrorDetail {
  return { message, path: `${parent}${path ?? ''}` };
}

/** Returns the size of the stored members of a registration, in bytes of JSON. */
function sizeOf({ application, instance, sdkVersion, strategies, description, url, color, icon }: ClientRegistration) {
  return Buffer.byteLength(
    JSON.stringify({ application, instance, sdkVersion, strategies, description, url, color, icon }),
  );
}
