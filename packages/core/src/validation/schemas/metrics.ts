import type { ClientRegistration, FlagCounts, MetricsReport } from '../../api/metrics.js';
import type { JsonSchema, ObjectSchema } from '../json-schema.js';
import { LIMITS } from '../limits.js';
import { dateTime, possiblyEmptyText, text } from './names.js';

const count: JsonSchema = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

const counts: ObjectSchema<FlagCounts> = {
  type: 'object',
  properties: { yes: count, no: count, variants: { type: 'object', additionalProperties: count } },
  required: ['yes', 'no'],
};

export const registration: ObjectSchema<ClientRegistration> = {
  type: 'object',
  properties: {
    appName: text(255),
    instanceId: possiblyEmptyText(255),
    sdkVersion: possiblyEmptyText(255),
    strategies: { type: 'array', maxItems: 1000, items: text(100) },
    started: dateTime,
    interval: { type: 'number', minimum: 0 },
    description: possiblyEmptyText(LIMITS.shortDescription),
    url: possiblyEmptyText(LIMITS.shortDescription),
    color: { type: ['string', 'null'], maxLength: 100 },
    icon: possiblyEmptyText(LIMITS.shortDescription),
  },
  required: ['appName', 'strategies', 'started', 'interval'],
};

export const metricsReport: ObjectSchema<MetricsReport> = {
  type: 'object',
  properties: {
    appName: text(255),
    instanceId: possiblyEmptyText(255),
    bucket: {
      type: 'object',
      properties: {
        start: dateTime,
        stop: dateTime,
        toggles: {
          type: 'object',
          maxProperties: LIMITS.flagsPerReport,
          propertyNames: text(255),
          additionalProperties: counts,
        },
      },
      required: ['start', 'stop', 'toggles'],
    } satisfies ObjectSchema<MetricsReport['bucket']>,
  },
  required: ['appName', 'bucket'],
};
