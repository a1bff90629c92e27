import { count, listOf, mapOf, referTo, text, timestamp } from './common.js';
import { strictObject } from './strict-object.js';

export const metricsSchemas = {
  SeenToggles: listOf(referTo('SeenTogglesItem')),

  SeenTogglesItem: strictObject({ appName: text, seenToggles: listOf(text), metricsCount: count }),

  FeatureMetrics: strictObject({
    lastHour: mapOf(referTo('YesNo')),
    lastMinute: mapOf(referTo('YesNo')),
  }),

  YesNo: strictObject({ yes: count, no: count }),

  ApplicationList: strictObject({ applications: listOf(referTo('ApplicationSummary')) }),

  ApplicationSummary: strictObject({
    appName: text,
    strategies: listOf(text),
    createdAt: timestamp,
    links: strictObject({ appDetails: text }),
  }),

  ApplicationDetail: strictObject(
    {
      appName: text,
      instances: listOf(referTo('ApplicationInstance')),
      strategies: listOf(referTo('ApplicationStrategies')),
      seenToggles: listOf(text),
    },
    // Names of flags that do not exist, of which the last 100 are kept; absent when none was dropped.
    { droppedNames: count },
  ),

  ApplicationInstance: strictObject({
    instanceId: text,
    clientIp: text,
    lastSeen: timestamp,
    createdAt: timestamp,
  }),

  ApplicationStrategies: strictObject({ appName: text, strategies: listOf(text) }),

  SeenApps: mapOf(listOf(referTo('SeenApp'))),

  SeenApp: strictObject({
    appName: text,
    createdAt: timestamp,
    updatedAt: timestamp,
    description: text,
    strategies: listOf(text),
    url: text,
    color: { type: ['string', 'null'] },
    icon: text,
  }),
};
