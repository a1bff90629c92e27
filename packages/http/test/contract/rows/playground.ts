import type { Row } from '../row.js';
import { enabled } from '../states.js';

const PATH = '/api/admin/playground';
const QUESTION = { environment: 'production', context: { userId: '7' } };

function refuses(name: string, body: unknown, code: 'invalid_input' | 'environment_not_found'): Row {
  return {
    endpoint: 'explainFlags',
    name: `refuses ${name}`,
    request: { method: 'POST', path: PATH, body },
    expect: { status: code === 'invalid_input' ? 400 : 404, code },
  };
}

export const playgroundRows: readonly Row[] = [
  {
    endpoint: 'listRecentContexts',
    name: 'is empty, because the option is not set',
    given: enabled,
    request: { method: 'GET', path: '/api/admin/contexts' },
    expect: { status: 200, unchanged: true, body: { version: 1, contexts: [] } },
  },
  {
    endpoint: 'explainFlags',
    name: 'explains the decision, strategy by strategy',
    given: enabled,
    request: { method: 'POST', path: PATH, body: { ...QUESTION, flag: 'checkout', project: 'default' } },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        environment: 'production',
        features: [
          {
            name: 'checkout',
            project: 'default',
            enabled: false,
            reason: 'no_strategy_holds',
            variant: { name: 'disabled', enabled: false, feature_enabled: false, featureEnabled: false },
            dependencies: [],
            strategies: [
              {
                name: 'flexibleRollout',
                holds: false,
                disabled: false,
                constraints: [],
                segments: [],
                test: false,
                rollout: {
                  holds: false,
                  groupId: 'checkout',
                  id: '7',
                  bucket: expect.any(Number),
                  random: false,
                  rollout: 25,
                },
              },
            ],
          },
        ],
      },
    },
  },
  {
    endpoint: 'explainFlags',
    name: 'explains all flags when none is named',
    given: enabled,
    request: { method: 'POST', path: PATH, body: { environment: 'development', context: {} } },
    expect: {
      status: 200,
      body: expect.objectContaining({ features: [expect.objectContaining({ name: 'checkout', reason: 'disabled' })] }),
    },
  },
  {
    endpoint: 'explainFlags',
    name: 'explains the decisions of an earlier time',
    given: enabled,
    request: { method: 'POST', path: PATH, body: { ...QUESTION, flag: 'checkout', asOf: '2100-01-01T00:00:00Z' } },
    expect: {
      status: 200,
      unchanged: true,
      body: expect.objectContaining({
        features: [expect.objectContaining({ name: 'checkout', reason: 'no_strategy_holds' })],
      }),
    },
  },
  refuses('an invalid time', { ...QUESTION, flag: 'checkout', asOf: 'yesterday' }, 'invalid_input'),
  {
    ...refuses('a time before the log', { ...QUESTION, asOf: '1999-01-01T00:00:00Z' }, 'invalid_input'),
    given: enabled,
  },
  refuses('a question without a context', { environment: 'production' }, 'invalid_input'),
  refuses('an invalid context', { ...QUESTION, context: { userId: {} } }, 'invalid_input'),
  refuses('an environment that does not exist', { ...QUESTION, environment: 'moon' }, 'environment_not_found'),
  {
    endpoint: 'explainFlags',
    name: 'does not find a flag in another project',
    given: enabled,
    request: { method: 'POST', path: PATH, body: { ...QUESTION, flag: 'unknown' } },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint: 'explainFlags',
    name: 'does not find a project that does not exist',
    request: { method: 'POST', path: PATH, body: { ...QUESTION, project: 'moon' } },
    expect: { status: 404, code: 'project_not_found' },
  },
];
