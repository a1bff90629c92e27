import type { BulkReport, ClientRegistration, FlagCounts, MetricsReport } from '../../api/metrics.js';
import type { JsonSchema, ObjectSchema } from '../json-schema.js';
import { LIMITS } from '../limits.js';
import { clientTime, possiblyEmptyText, text } from './names.js';

const count: JsonSchema = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

const counts: ObjectSchema<FlagCounts> = {
  type: 'object',
  properties: { yes: count, no: count, variants: { type: 'object', additionalProperties: count } },
  required: ['yes', 'no'],
};

export const registration: ObjectSchema<ClientRegistration> = {
  type: 'object',
  properties: {
    appName: text(LIMITS.reportedName),
    instanceId: possiblyEmptyText(LIMITS.reportedName),
    sdkVersion: possiblyEmptyText(LIMITS.reportedName),
    strategies: { type: 'array', maxItems: LIMITS.strategiesPerRegistration, items: text(LIMITS.label) },
    started: clientTime,
    interval: { type: 'number', minimum: 0 },
    description: possiblyEmptyText(LIMITS.shortDescription),
    url: possiblyEmptyText(LIMITS.shortDescription),
    color: { type: ['string', 'null'], maxLength: LIMITS.label },
    icon: possiblyEmptyText(LIMITS.shortDescription),
  },
  required: ['appName', 'strategies', 'started', 'interval'],
};

export const metricsReport: ObjectSchema<MetricsReport> = {
  type: 'object',
  properties: {
    appName: text(LIMITS.reportedName),
    instanceId: possiblyEmptyText(LIMITS.reportedName),
    bucket: {
      type: 'object',
      properties: {
        start: clientTime,
        stop: clientTime,
        toggles: {
          type: 'object',
          maxProperties: LIMITS.flagsPerReport,
          propertyNames: text(LIMITS.reportedName),
          additionalProperties: counts,
        },
      },
      required: ['start', 'stop', 'toggles'],
    } satisfies ObjectSchema<MetricsReport['bucket']>,
  },
  required: ['appName', 'bucket'],
};

export const bulkReport: ObjectSchema<BulkReport> = {
  type: 'object',
  properties: {
    registrations: { type: 'array', maxItems: LIMITS.applicationsPerBatch, items: registration },
    reports: { type: 'array', maxItems: LIMITS.metricsPerBatch, items: metricsReport },
  },
};
