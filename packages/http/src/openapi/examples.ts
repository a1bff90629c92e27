import type { ReplySchema } from '../route.js';
import { CLIENT_EXAMPLES } from './client-examples.js';
import { CHANGE_EXAMPLES } from './schemas/changes.js';

const CREATED = '2026-01-02T10:00:00.000Z';
const SEEN = '2026-01-05T08:30:00.000Z';

const environmentSummaries = [
  { name: 'development', displayName: 'development', enabled: true },
  { name: 'production', displayName: 'production', enabled: false },
];

const summary = {
  name: 'checkout',
  type: 'release',
  stale: false,
  createdAt: CREATED,
  lastSeenAt: SEEN,
  environments: environmentSummaries,
};

const flag = {
  name: 'checkout',
  project: 'default',
  description: 'The new checkout',
  type: 'release',
  stale: false,
  impressionData: false,
  archived: false,
  createdAt: CREATED,
  lastSeenAt: SEEN,
  variants: null,
  labels: ['team-shop'],
  owner: 'ada@example.org',
};

const archivedFlag = {
  ...summary,
  project: 'default',
  archived: true,
  archivedAt: SEEN,
  description: 'The new checkout',
  impressionData: false,
};

const strategy = {
  id: '0b2e7c8e-6f5c-4a4a-9d3a-1f5a3c1b9e10',
  name: 'flexibleRollout',
  constraints: [{ contextName: 'userId', operator: 'IN', values: ['7', '8'] }],
  parameters: { rollout: 25, groupId: 'checkout', stickiness: 'default' },
};

const project = { id: 'default', name: 'Default', description: '' };

const token = {
  id: '5d41402abc4b2a76',
  tokenName: 'web',
  username: 'web',
  type: 'client',
  project: '*',
  projects: ['*'],
  environment: 'production',
  createdAt: CREATED,
  expiresAt: null,
  lastUsedAt: null,
};

const segment = {
  id: 1,
  name: 'beta',
  description: 'Who has asked for it',
  constraints: [{ contextName: 'userId', operator: 'IN', values: ['7', '8'] }],
  project: null,
  createdAt: CREATED,
  createdBy: 'ada@example.org',
};

const counts = { checkout: { yes: 8, no: 2 } };

/** One example for each reply schema. */
export const EXAMPLES: Readonly<Record<Exclude<ReplySchema, 'OpenApiDocument'>, unknown>> = {
  ProjectList: {
    version: 1,
    projects: [{ ...project, createdAt: CREATED, health: 100, memberCount: 1, featureCount: 1 }],
  },
  Project: project,
  ProjectOverview: { name: 'Default', description: '', features: [summary], health: 100, members: 1, version: 1 },
  HealthReport: {
    ...{ name: 'Default', description: '', features: [summary], health: 100, members: 1, version: 1 },
    ...{ potentiallyStaleCount: 0, activeCount: 1, staleCount: 0 },
  },
  MemberList: {
    roles: [
      { id: 4, name: 'owner' },
      { id: 5, name: 'member' },
    ],
    users: [{ id: 7, roleId: 4 }],
  },
  FlagList: { version: 1, features: [summary] },
  FeatureList: {
    version: 1,
    features: [
      {
        name: 'checkout',
        project: 'default',
        description: 'The new checkout',
        type: 'release',
        stale: false,
        archived: false,
        labels: ['team-shop'],
        owner: 'ada@example.org',
        revision: 7,
        createdAt: CREATED,
        lastSeenAt: SEEN,
        environments: [
          {
            name: 'development',
            enabled: true,
            strategyCount: 1,
            rollout: 100,
            hasVariants: false,
            audience: [{ rollout: 100 }],
            offBecauseOf: null,
          },
          {
            name: 'production',
            enabled: false,
            strategyCount: 1,
            rollout: 25,
            hasVariants: false,
            audience: [{ rollout: 25 }],
            offBecauseOf: null,
          },
        ],
      },
    ],
    total: 1,
  },
  Flag: flag,
  FlagDetail: {
    ...flag,
    environments: [
      { name: 'development', enabled: true, strategies: [strategy] },
      { name: 'production', enabled: false, strategies: [] },
    ],
  },
  Tag: { type: 'simple', value: 'team-shop' },
  TagList: { version: 1, tags: [{ type: 'simple', value: 'team-shop' }] },
  TagTypeList: { version: 1, tagTypes: [{ name: 'simple', description: 'A label of a flag', icon: '#' }] },
  EnvironmentList: {
    version: 1,
    environments: [
      {
        ...{ name: 'development', displayName: 'Development', type: 'development' },
        ...{ enabled: true, protected: true, sortOrder: 1 },
      },
    ],
  },
  ArchivedFlagList: { version: 1, features: [archivedFlag] },
  FlagInEnvironment: { name: 'checkout', environment: 'development', enabled: true, strategies: [strategy] },
  Strategy: strategy,
  StrategyList: [strategy],
  VariantList: {
    version: '1',
    variants: [{ name: 'blue', weightType: 'variable', weight: 1000, stickiness: 'default', overrides: [] }],
  },
  VariantWeights: {
    version: '1',
    variants: [
      { name: 'blue', weightType: 'fix', weight: 100 },
      { name: 'green', weightType: 'variable', weight: 900 },
    ],
  },
  Dependency: { feature: 'payments', enabled: true, variants: [] },
  PossibleParents: ['payments', 'search'],
  Segment: segment,
  SegmentList: { segments: [segment] },
  SegmentUses: {
    strategies: [{ id: strategy.id, featureName: 'checkout', projectId: 'default', environment: 'production' }],
  },
  SeenToggles: [{ appName: 'web', seenToggles: ['checkout'], metricsCount: 10 }],
  FeatureMetrics: { lastHour: counts, lastMinute: { checkout: { yes: 0, no: 0 } } },
  UsageList: {
    version: 1,
    usage: [
      {
        ...{ feature: 'checkout', environment: 'production', appName: 'web' },
        ...{ hour: '2026-03-01T12:00:00.000Z', yes: 8, no: 2, variants: { blue: 8 } },
      },
    ],
  },
  UsageSummary: {
    ...{ version: 1, maturity: 'stable', featureName: 'checkout' },
    lastHourUsage: [{ environment: 'production', timestamp: '2026-03-01T12:00:00.000Z', yes: 8, no: 2 }],
    seenApplications: ['web'],
  },
  RawUsageList: {
    ...{ version: 1, maturity: 'stable' },
    data: [
      {
        ...{ featureName: 'checkout', appName: 'web', environment: 'production' },
        ...{ timestamp: '2026-03-01T12:00:00.000Z', yes: 8, no: 2 },
      },
    ],
  },
  ApplicationList: {
    applications: [
      {
        appName: 'web',
        strategies: ['default', 'flexibleRollout'],
        createdAt: CREATED,
        links: { appDetails: '/api/admin/applications/web' },
      },
    ],
  },
  ApplicationDetail: {
    appName: 'web',
    instances: [{ instanceId: 'web-1', clientIp: '192.0.2.1', lastSeen: SEEN, createdAt: CREATED }],
    strategies: [{ appName: 'web', strategies: ['default'] }],
    seenToggles: ['checkout'],
  },
  SeenApps: {
    checkout: [
      {
        appName: 'web',
        createdAt: CREATED,
        updatedAt: SEEN,
        description: '',
        strategies: ['default'],
        url: '',
        color: null,
        icon: '',
      },
    ],
  },
  TokenList: { tokens: [token] },
  CreatedToken: { ...token, secret: '*:production.<shown once>' },
  EventList: {
    version: 1,
    events: [
      {
        id: 12,
        type: 'feature-stale-on',
        createdBy: 'ada@example.org',
        createdByTokenId: null,
        createdByTokenType: null,
        createdAt: CREATED,
        project: 'default',
        featureName: 'checkout',
        environment: null,
        data: { stale: true },
        preData: { stale: false },
        changeSet: '3f0c9e0e-5a53-4d0f-9d0e-5c1c8f2a7b11',
        reason: null,
      },
    ],
    totalEvents: 1,
  },
  EventStream:
    'id:42\ndata:{"id":12,"type":"feature-stale-on","createdBy":"ada@example.org","project":"default","featureName":"checkout"}\n\n',
  Session: {
    version: '0.2.0',
    auth: 'session',
    actor: 'ada@example.org',
    environments: [{ name: 'production', displayName: 'Production' }],
    environment: 'production',
    types: [{ name: 'release', lifetimeDays: 40 }],
    roles: [{ id: 4, name: 'owner' }],
    strategies: [
      {
        name: 'userWithId',
        description: 'On for these users.',
        parameters: [{ name: 'userIds', type: 'list', description: 'Ids of users.' }],
      },
    ],
    actions: ['getFlag', 'listFlags'],
  },
  ...CHANGE_EXAMPLES,
  ...CLIENT_EXAMPLES,
};
