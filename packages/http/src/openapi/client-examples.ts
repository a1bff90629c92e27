const constraint = {
  contextName: 'userId',
  operator: 'IN',
  values: ['7', '8'],
  inverted: false,
  caseInsensitive: false,
};

const feature = {
  name: 'checkout',
  type: 'release',
  description: 'The new checkout',
  project: 'default',
  enabled: true,
  stale: false,
  impressionData: false,
  strategies: [
    {
      name: 'flexibleRollout',
      parameters: { rollout: '25', groupId: 'checkout', stickiness: 'default' },
      constraints: [constraint],
      segments: [1],
    },
  ],
  variants: [{ name: 'blue', weight: 1000, stickiness: 'default', overrides: [] }],
};

const evaluation = {
  key: 'checkout',
  value: '#00f',
  reason: 'SPLIT',
  variant: 'blue',
  metadata: { project: 'default', type: 'release', enabled: true, stale: false, impressionData: false },
};

const variant = { name: 'blue', enabled: true, feature_enabled: true, featureEnabled: true };

/** One example for each client reply schema. */
export const CLIENT_EXAMPLES = {
  ClientFeatures: {
    version: 2,
    features: [feature],
    segments: [{ id: 1, name: 'beta', constraints: [constraint] }],
    query: { environment: 'production' },
  },
  ClientFeature: feature,
  FeatureStream: [
    'id:9f86d081884c7d65-1',
    'event:unleash-connected',
    'data:{"events":[{"type":"hydration","eventId":1,"features":[],"segments":[]}]}',
    '',
    'id:9f86d081884c7d65-2',
    'event:unleash-updated',
    'data:{"events":[{"type":"feature-removed","eventId":2,"featureName":"checkout","project":"default"}]}',
    '',
    '',
  ].join('\n'),
  FrontendToggles: { toggles: [{ name: 'checkout', enabled: true, variant, impressionData: false }] },
  OfrepEvaluation: evaluation,
  OfrepEvaluations: { flags: [evaluation] },
  ContextList: { version: 1, contexts: [{ userId: '7', properties: { country: 'DE' } }, { sessionId: 'f3a1' }] },
  Playground: {
    environment: 'production',
    features: [
      {
        name: 'checkout',
        project: 'default',
        enabled: true,
        reason: 'strategy',
        variant,
        dependencies: [],
        strategies: [
          {
            name: 'flexibleRollout',
            holds: true,
            disabled: false,
            constraints: [],
            segments: [],
            test: true,
            rollout: { holds: true, groupId: 'checkout', id: '7', bucket: 12, random: false, rollout: 25 },
          },
        ],
      },
    ],
  },
};
