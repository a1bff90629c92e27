import type { Row } from '../row.js';
import { NOW } from '../states.js';

const REGISTRATION = { appName: 'web', instanceId: 'web-1', strategies: ['default'], started: NOW, interval: 10_000 };
const BUCKET = { start: '2026-03-01T11:59:00.000Z', stop: NOW, toggles: { checkout: { yes: 8, no: 2 } } };

function register(name: string, body: unknown): Row {
  return {
    endpoint: 'registerApplication',
    name: `refuses ${name}`,
    request: { method: 'POST', path: '/api/client/register', body },
    expect: { status: 400, code: 'invalid_input' },
  };
}

function report(name: string, bucket: unknown): Row {
  return {
    endpoint: 'reportMetrics',
    name: `refuses ${name}, and counts nothing of it`,
    request: { method: 'POST', path: '/api/client/metrics', body: { appName: 'web', bucket } },
    expect: { status: 400, code: 'invalid_input' },
  };
}

export const clientRows: readonly Row[] = [
  {
    endpoint: 'registerApplication',
    name: 'accepts a registration with the additional members of real clients',
    request: {
      method: 'POST',
      path: '/api/client/register',
      body: { ...REGISTRATION, sdkVersion: 'client:1.0.0', platformName: 'node', yggdrasilVersion: null },
    },
    expect: {
      status: 202,
      body: null,
      afterwards: async (flags) =>
        expect(await flags.applications.get({ application: 'web' })).toMatchObject({
          strategies: ['default'],
          instances: [{ id: 'web-1' }],
        }),
    },
  },
  {
    endpoint: 'registerApplication',
    name: 'stores the address of the client',
    isForEngines: true,
    request: { method: 'POST', path: '/api/client/register', body: REGISTRATION },
    expect: {
      status: 202,
      body: null,
      afterwards: async (flags) => {
        const { instances } = await flags.applications.get({ application: 'web' });
        expect(instances).toMatchObject([{ id: 'web-1', clientIp: expect.stringMatching(/127\.0\.0\.1|::1/) }]);
      },
    },
  },
  {
    endpoint: 'registerApplication',
    name: 'accepts a registration with null for unknown members',
    request: {
      method: 'POST',
      path: '/api/client/register',
      body: {
        ...REGISTRATION,
        instanceId: null,
        sdkVersion: null,
        description: null,
        url: null,
        color: null,
        icon: null,
        connectionId: null,
        environment: null,
      },
    },
    expect: {
      status: 202,
      body: null,
      afterwards: async (flags) =>
        expect(await flags.applications.get({ application: 'web' })).toMatchObject({
          description: '',
          color: null,
          instances: [{ id: 'default' }],
        }),
    },
  },
  register('a registration without strategies', { ...REGISTRATION, strategies: undefined }),
  register('a registration without a name', { ...REGISTRATION, appName: '' }),
  register('an invalid time', { ...REGISTRATION, started: 'now' }),
  register('a list', []),
  {
    endpoint: 'reportMetrics',
    name: 'counts a report of an application that never registered, of flags that do not exist',
    request: { method: 'POST', path: '/api/client/metrics', body: { appName: 'web', bucket: BUCKET, platform: 'x' } },
    expect: {
      status: 202,
      body: null,
      afterwards: async (flags) =>
        expect([...(await flags.usage.count()).lastMinute]).toEqual([['checkout', { yes: 8, no: 2 }]]),
    },
  },
  {
    endpoint: 'reportMetrics',
    name: 'counts a report with null for unknown members',
    request: {
      method: 'POST',
      path: '/api/client/metrics',
      body: { appName: 'web', instanceId: null, connectionId: null, sdkVersion: null, bucket: BUCKET },
    },
    expect: {
      status: 202,
      body: null,
      afterwards: async (flags) =>
        expect((await flags.applications.get({ application: 'web' })).instances).toMatchObject([{ id: 'default' }]),
    },
  },
  report('a negative count', { ...BUCKET, toggles: { ...BUCKET.toggles, other: { yes: -1, no: 0 } } }),
  report('a broken count', { ...BUCKET, toggles: { ...BUCKET.toggles, other: { yes: 0.5, no: 0 } } }),
  report('a count as text', { ...BUCKET, toggles: { ...BUCKET.toggles, other: { yes: '1', no: 0 } } }),
  report('an invalid time', { ...BUCKET, stop: 'now' }),
  report('a report without counts', { start: BUCKET.start, stop: BUCKET.stop }),
];
