const AT = '2026-01-02T10:00:00.000Z';
const CHANGE_SET = '3f0c9e0e-5a53-4d0f-9d0e-5c1c8f2a7b11';
const STRATEGY = '0b2e7c8e-6f5c-4a4a-9d3a-1f5a3c1b9e10';

const change = {
  type: 'feature-environment-enabled',
  project: 'default',
  featureName: 'checkout',
  environment: 'production',
  data: { enabled: true },
  preData: { enabled: false },
};

const changeSet = {
  id: CHANGE_SET,
  at: AT,
  actor: 'ada@example.org',
  reason: 'Launch',
  events: [
    {
      id: 12,
      createdBy: 'ada@example.org',
      createdByTokenId: null,
      createdByTokenType: null,
      createdAt: AT,
      ...change,
      changeSet: CHANGE_SET,
      reason: 'Launch',
    },
  ],
  revisions: { 'flag/checkout': 7 },
};

function withoutVariant(isOn: boolean) {
  return { name: 'disabled', enabled: false, feature_enabled: isOn, featureEnabled: isOn };
}

/** Examples of replies about change sets. */
export const CHANGE_EXAMPLES = {
  ChangeSet: changeSet,
  History: {
    version: 1,
    changes: [
      {
        ...changeSet,
        differences: [
          {
            kind: 'flag',
            id: 'checkout',
            parts: [{ path: '/environments/production/enabled', before: false, after: true }],
          },
        ],
      },
    ],
  },
  Plan: {
    documents: [
      {
        kind: 'flag',
        id: 'checkout',
        before: { name: 'checkout', project: 'default' },
        after: { name: 'checkout', project: 'default' },
        events: [change],
      },
    ],
  },
  Definitions: {
    version: 1,
    projects: [{ id: 'default', name: 'Default', description: '', createdAt: AT, members: [] }],
    segments: [],
    flags: [
      {
        name: 'checkout',
        project: 'default',
        type: 'release',
        description: 'The new checkout',
        environments: { production: { enabled: true, strategies: [{ name: 'default' }] } },
      },
    ],
  },
  ImportResult: {
    dryRun: false,
    changeSets: [{ id: CHANGE_SET, at: AT, documents: ['flag/checkout'] }],
    differences: [
      {
        kind: 'flag',
        id: 'checkout',
        parts: [{ path: '/environments/production/enabled', before: false, after: true }],
      },
    ],
  },
  Preview: {
    flags: [
      {
        project: 'default',
        flag: 'checkout',
        before: { enabled: 0 },
        after: { enabled: 1 },
        contexts: [
          {
            before: { enabled: false, variant: withoutVariant(false), reason: 'no_strategy_holds' },
            after: { enabled: true, variant: withoutVariant(true), reason: 'strategy' },
            buckets: [{ strategy: STRATEGY, bucket: 12, rollout: 25 }],
          },
        ],
      },
    ],
  },
};
