import type { Row } from '../row.js';
import { NOW } from '../states.js';

const PATH = '/api/client/metrics/bulk';
const METRIC = { appName: 'web', featureName: 'checkout', environment: 'production', timestamp: NOW, yes: 3, no: 1 };

function refuses(name: string, body: unknown): Row {
  return {
    endpoint: 'reportMetricsInBulk',
    name: `refuses ${name}, and takes nothing of it`,
    request: { method: 'POST', path: PATH, body },
    expect: { status: 400, code: 'invalid_input' },
  };
}

export const bulkRows: readonly Row[] = [
  {
    endpoint: 'reportMetricsInBulk',
    name: 'accepts registrations and counts of many clients, each count once',
    request: {
      method: 'POST',
      path: PATH,
      body: {
        applications: [
          { appName: 'web', instanceId: 'web-1', connectVia: [{ appName: 'edge', instanceId: 'edge-1' }] },
        ],
        metrics: [
          METRIC,
          METRIC,
          { ...METRIC, featureName: '__proto__', variants: { blue: 3 } },
          { ...METRIC, appName: 'shop' },
        ],
      },
    },
    expect: {
      status: 202,
      body: null,
      afterwards: async (flags) => {
        expect([...(await flags.usage.count()).lastMinute]).toEqual([
          ['__proto__', { yes: 3, no: 1 }],
          ['checkout', { yes: 9, no: 3 }],
        ]);
        expect((await flags.applications.get({ application: 'web' })).instances).toContainEqual(
          expect.objectContaining({ id: 'web-1' }),
        );
      },
    },
  },
  {
    endpoint: 'reportMetricsInBulk',
    name: 'accepts null for unknown members of a client, and counts its report',
    request: {
      method: 'POST',
      path: PATH,
      body: {
        applications: [{ appName: 'web', instanceId: null, connectVia: null, projects: null, sdkVersion: null }],
        metrics: [{ ...METRIC, sdkVersion: null }],
      },
    },
    expect: {
      status: 202,
      body: null,
      afterwards: async (flags) => {
        expect([...(await flags.usage.count()).lastMinute]).toEqual([['checkout', { yes: 3, no: 1 }]]);
        expect((await flags.applications.get({ application: 'web' })).instances).toContainEqual(
          expect.objectContaining({ id: 'default' }),
        );
      },
    },
  },
  {
    endpoint: 'reportMetricsInBulk',
    name: 'limits sums to the largest safe number',
    request: { method: 'POST', path: PATH, body: { metrics: [huge(), huge()] } },
    expect: { status: 202, body: null },
  },
  refuses('an invalid count', { metrics: [METRIC, { ...METRIC, yes: -1 }] }),
  refuses('an invalid time', { metrics: [METRIC, { ...METRIC, timestamp: 'now' }] }),
  refuses('an application without a name', { applications: [{ instanceId: 'x' }], metrics: [METRIC] }),
  refuses('a list', []),
];

function huge() {
  return { ...METRIC, yes: Number.MAX_SAFE_INTEGER };
}
