import type { Row } from '../row.js';
import { inOrder, type Step } from '../row.js';
import { CHECKOUT, checkout, NOW, PRODUCTION } from '../states.js';

/** On for user 7 only, with one variant. */
const onForSeven: Step = inOrder(
  checkout,
  (flags) => flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: '7' } }),
  (flags) => flags.enable(PRODUCTION),
  (flags) => flags.setVariants(CHECKOUT, [{ name: 'blue', payload: { type: 'string', value: '#00f' } }]),
);

const BLUE = {
  toggles: [
    {
      name: 'checkout',
      enabled: true,
      variant: {
        name: 'blue',
        enabled: true,
        feature_enabled: true,
        featureEnabled: true,
        payload: { type: 'string', value: '#00f' },
      },
      impressionData: false,
    },
  ],
};

const REGISTRATION = { appName: 'page', strategies: [], started: NOW, interval: 10_000 };
const REPORT = {
  appName: 'page',
  instanceId: 'browser',
  bucket: { start: NOW, stop: NOW, toggles: { checkout: { yes: 2, no: 1, variants: { blue: 2 } } } },
};

export const frontendRows: readonly Row[] = [
  {
    endpoint: 'evaluateFlags',
    name: 'lists the flags that are on for the context in the query, with their variants',
    given: onForSeven,
    request: { method: 'GET', path: '/api/frontend?userId=7&environment=default&properties%5Bplan%5D=pro' },
    expect: { status: 200, unchanged: true, body: BLUE },
  },
  {
    endpoint: 'evaluateFlags',
    name: 'lists no flag that is off',
    given: onForSeven,
    request: { method: 'GET', path: '/api/frontend?userId=8' },
    expect: { status: 200, unchanged: true, body: { toggles: [] } },
  },
  {
    endpoint: 'evaluateFlags',
    name: 'refuses two users at once',
    request: { method: 'GET', path: '/api/frontend?userId=7&userId=8' },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'evaluateFlagsForContext',
    name: 'lists the flags that are on for the context in the body',
    given: onForSeven,
    request: { method: 'POST', path: '/api/frontend', body: { context: { userId: 7, environment: 'other' } } },
    expect: { status: 200, unchanged: true, body: BLUE },
  },
  {
    endpoint: 'evaluateFlagsForContext',
    name: 'needs no context',
    given: onForSeven,
    request: { method: 'POST', path: '/api/frontend', body: {} },
    expect: { status: 200, unchanged: true, body: { toggles: [] } },
  },
  {
    endpoint: 'evaluateFlagsForContext',
    name: 'refuses an invalid context',
    request: { method: 'POST', path: '/api/frontend', body: { context: 'user 7' } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'registerFrontend',
    name: 'accepts a registration',
    request: { method: 'POST', path: '/api/frontend/client/register', body: REGISTRATION },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) => expect((await flags.applications.list()).items).toMatchObject([{ name: 'page' }]),
    },
  },
  {
    endpoint: 'registerFrontend',
    name: 'refuses a registration without a name',
    request: { method: 'POST', path: '/api/frontend/client/register', body: { ...REGISTRATION, appName: '' } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'reportFrontendMetrics',
    name: 'counts a report',
    request: { method: 'POST', path: '/api/frontend/client/metrics', body: REPORT },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) =>
        expect([...(await flags.usage.count()).lastMinute]).toEqual([['checkout', { yes: 2, no: 1 }]]),
    },
  },
  {
    endpoint: 'reportFrontendMetrics',
    name: 'refuses a report without a bucket',
    request: { method: 'POST', path: '/api/frontend/client/metrics', body: { appName: 'page' } },
    expect: { status: 400, code: 'invalid_input' },
  },
];
