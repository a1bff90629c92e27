import { TOKEN_KINDS } from '@flags/core';
import type { JsonSchema } from '@flags/core/integration';
import { WIRE_EVENT_TYPES } from '../../routes/events.js';
import {
  count,
  listOf,
  mapOf,
  optionalTimestamp,
  positiveInteger,
  referTo,
  strictObject,
  text,
  timestamp,
  version,
} from './common.js';

const health: JsonSchema = {
  type: 'integer',
  minimum: 0,
  maximum: 100,
  description: '100 minus the percentage of flags that are stale or potentially stale.',
};

const project = { id: text, name: text, description: text };

const overview = {
  name: text,
  description: text,
  features: listOf(referTo('FlagSummary')),
  health,
  members: count,
  version,
};

export const projectSchemas = {
  Project: strictObject(project),

  ProjectSummary: strictObject({
    ...project,
    createdAt: timestamp,
    health,
    memberCount: count,
    featureCount: count,
  }),

  ProjectList: strictObject({ version, projects: listOf(referTo('ProjectSummary')) }),

  ProjectOverview: strictObject(overview),

  HealthReport: strictObject({
    ...overview,
    potentiallyStaleCount: { ...count, description: 'Not stale, but older than the lifetime of their type.' },
    activeCount: { ...count, description: 'Not stale.' },
    staleCount: count,
  }),
};

export const memberSchemas = {
  MemberList: strictObject({ roles: listOf(referTo('Role')), users: listOf(referTo('Member')) }),

  Role: strictObject({ id: positiveInteger, name: text }),

  Member: strictObject(
    { id: positiveInteger, roleId: positiveInteger },
    {
      name: { ...text, description: 'Present if the host application describes its users, and knows this one.' },
      image: { ...text, description: 'The address of a picture.' },
    },
  ),
};

const nullableText: JsonSchema = { type: ['string', 'null'] };

/** The user of a change. */
export const actorSchema: JsonSchema = {
  ...strictObject({ name: text }, { image: text }),
  description: 'Who that is, if the host application describes its users, and knows this one.',
};

export const eventSchemas = {
  EventList: strictObject({ version, events: listOf(referTo('Event')), totalEvents: count }),

  EventStream: {
    type: 'string',
    description: 'Messages with `id`, the position for `Last-Event-ID`, and `data`, an event as in EventList.',
  },

  Event: strictObject(
    {
      id: { type: 'integer', minimum: 1 },
      type: { type: 'string', enum: WIRE_EVENT_TYPES },
      createdBy: text,
      createdByTokenId: { ...nullableText, description: 'The id of the API token that was used; null: none.' },
      createdByTokenType: { type: ['string', 'null'], enum: [...TOKEN_KINDS, null], description: 'Its type.' },
      createdAt: timestamp,
      project: nullableText,
      featureName: nullableText,
      environment: nullableText,
      data: { description: 'What is so now.' },
      preData: { description: 'What was so before; null where there was nothing.' },
      changeSet: { ...nullableText, description: 'The id of the change set; null for events from before change sets.' },
      reason: { ...nullableText, description: 'Why the change was made.' },
    },
    { user: actorSchema },
  ),
};

const named = (members: Readonly<Record<string, JsonSchema>>) => listOf(strictObject({ name: text, ...members }));

export const sessionSchemas = {
  Session: strictObject(
    {
      version: { type: 'string', description: 'The version of the packages that answer.' },
      auth: {
        type: 'string',
        enum: ['none', 'token', 'host', 'session'],
        description: 'How to sign in: not at all, by API token, in the application, or either of the last two.',
      },
    },
    {
      actor: { type: 'string', description: 'Who makes the request. Absent for callers that are not let in.' },
      environments: named({ displayName: text }),
      environment: { type: 'string', description: 'The environment of evaluations and commands that name none.' },
      types: named({
        lifetimeDays: { type: ['number', 'null'], description: 'Days until a flag is stale; null: never.' },
      }),
      roles: listOf(referTo('Role')),
      strategies: {
        ...named({
          description: text,
          parameters: named({
            type: { type: 'string', enum: ['percentage', 'list', 'string'] },
            description: text,
          }),
        }),
        description: 'The built-in strategies.',
      },
      actions: { ...listOf(text), description: 'What `authorize` allows in the project of the query.' },
    },
  ),
};

export const metricsSchemas = {
  SeenToggles: listOf(referTo('SeenTogglesItem')),

  SeenTogglesItem: strictObject({ appName: text, seenToggles: listOf(text), metricsCount: count }),

  FeatureMetrics: strictObject({
    lastHour: mapOf(referTo('YesNo')),
    lastMinute: mapOf(referTo('YesNo')),
  }),

  YesNo: strictObject({ yes: count, no: count }),

  UsageList: strictObject({ version, usage: listOf(referTo('UsagePeriod')) }),

  UsagePeriod: strictObject(
    {
      feature: text,
      environment: text,
      appName: text,
      yes: count,
      no: count,
      variants: { ...mapOf(count), description: 'Counts by variant; `disabled` stands for no variant.' },
    },
    {
      hour: { ...timestamp, description: 'The start of the hour, unless days are listed.' },
      day: { ...timestamp, description: 'The start of the day (UTC), where days are listed.' },
    },
  ),

  UsageSummary: strictObject({
    version,
    maturity: text,
    featureName: text,
    lastHourUsage: listOf(strictObject({ environment: text, timestamp, yes: count, no: count })),
    seenApplications: listOf(text),
  }),

  RawUsageList: strictObject({ version, maturity: text, data: listOf(referTo('RawUsage')) }),

  RawUsage: strictObject(
    { featureName: text, appName: text, environment: text, timestamp, yes: count, no: count },
    { variants: mapOf(count) },
  ),

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
    // The number of dropped names of unknown flags; the last 100 names are kept. Absent when none was dropped.
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

const token = {
  id: { type: 'string', description: 'Names the token; not its secret.' },
  tokenName: text,
  username: { type: 'string', description: 'The same as tokenName.' },
  type: { type: 'string', enum: TOKEN_KINDS },
  project: { type: 'string', description: 'The first of the projects; * for all.' },
  projects: { ...listOf(text), description: 'Ids of projects; * alone for all.' },
  environment: text,
  createdAt: timestamp,
  expiresAt: optionalTimestamp,
  lastUsedAt: { ...optionalTimestamp, description: 'When the token was last used, accurate to the hour; null: never.' },
};

export const tokenSchemas = {
  Token: strictObject(token),

  TokenList: strictObject({ tokens: listOf(referTo('Token')) }),

  CreatedToken: strictObject({ ...token, secret: { type: 'string', description: 'Shown once, here.' } }),
};
