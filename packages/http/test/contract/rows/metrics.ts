import type { Row } from '../row.js';
import { inOrder } from '../row.js';
import { checkout, NOW, reported } from '../states.js';

const METRICS = '/api/admin/metrics';

const WEB = {
  appName: 'web',
  strategies: ['default', 'own'],
  createdAt: NOW,
  links: { appDetails: '/api/admin/applications/web' },
};

const COUNTS = { checkout: { yes: 8, no: 2 } };

/** The flag checkout: one evaluation at nine, and those of {@link reported} before noon. */
const reportedHours = inOrder(checkout, reported, (flags) => {
  const counts = { checkout: { yes: 1, no: 0, variants: { disabled: 1, invented: 1 } } };
  const time = '2026-03-01T09:30:00.000Z';
  return flags.reportMetrics({
    application: 'web',
    environment: 'production',
    start: time,
    stop: time,
    counts,
  });
});

interface Counted {
  readonly yes: number;
  readonly no: number;
  readonly variants?: Readonly<Record<string, number>>;
}

function startOfHour(hour: number): string {
  return `2026-03-01T${String(hour).padStart(2, '0')}:00:00.000Z`;
}

function hourOfUsage(hour: number, counted: Counted) {
  const key = { feature: 'checkout', environment: 'production', appName: 'web', hour: startOfHour(hour) };
  return { ...key, variants: {}, ...counted };
}

function rawHour(hour: number, counted: Counted) {
  const timestamp = startOfHour(hour);
  return { featureName: 'checkout', appName: 'web', environment: 'production', timestamp, ...counted };
}

export const metricsRows: readonly Row[] = [
  {
    endpoint: 20,
    name: 'shows which application has seen which flags, and how often',
    given: reported,
    request: { method: 'GET', path: `${METRICS}/seen-toggles` },
    expect: { status: 200, unchanged: true, body: [{ appName: 'web', seenToggles: ['checkout'], metricsCount: 10 }] },
  },
  {
    endpoint: 20,
    name: 'shows nothing before anything is reported',
    request: { method: 'GET', path: `${METRICS}/seen-toggles` },
    expect: { status: 200, body: [] },
  },
  {
    endpoint: 21,
    name: 'shows the counts of the last minute and the last hour',
    given: reported,
    request: { method: 'GET', path: `${METRICS}/feature-toggles` },
    expect: { status: 200, unchanged: true, body: { lastHour: COUNTS, lastMinute: COUNTS } },
  },
  {
    endpoint: 21,
    name: 'shows zeros for a minute without counts',
    given: (flags) =>
      flags.reportMetrics({
        application: 'web',
        start: '2026-03-01T11:00:00.000Z',
        stop: '2026-03-01T11:30:00.000Z',
        counts: COUNTS,
      }),
    request: { method: 'GET', path: `${METRICS}/feature-toggles` },
    expect: { status: 200, body: { lastHour: COUNTS, lastMinute: { checkout: { yes: 0, no: 0 } } } },
  },
  {
    endpoint: 22,
    name: 'lists applications',
    given: reported,
    request: { method: 'GET', path: `${METRICS}/applications` },
    expect: { status: 200, unchanged: true, body: { applications: [WEB] } },
  },
  {
    endpoint: 23,
    name: 'lists applications that implement a strategy',
    given: reported,
    request: { method: 'GET', path: `${METRICS}/applications?strategyName=own` },
    expect: { status: 200, unchanged: true, body: { applications: [WEB] } },
  },
  {
    endpoint: 23,
    name: 'omits applications without the strategy',
    given: reported,
    request: { method: 'GET', path: `${METRICS}/applications?strategyName=other` },
    expect: { status: 200, body: { applications: [] } },
  },
  {
    endpoint: 23,
    name: 'treats repeated strategies as any of them',
    given: reported,
    request: { method: 'GET', path: `${METRICS}/applications?strategyName=other&strategyName=own` },
    expect: { status: 200, body: { applications: [WEB] } },
  },
  {
    endpoint: 23,
    name: 'treats an empty strategy as no filter',
    given: reported,
    request: { method: 'GET', path: `${METRICS}/applications?strategyName=` },
    expect: { status: 200, body: { applications: [WEB] } },
  },
  {
    endpoint: 24,
    name: 'shows an application with its instances and flags',
    given: reported,
    request: { method: 'GET', path: `${METRICS}/applications/web` },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        appName: 'web',
        instances: [{ instanceId: 'web-1', clientIp: '192.0.2.1', lastSeen: NOW, createdAt: NOW }],
        strategies: [{ appName: 'web', strategies: ['default', 'own'] }],
        seenToggles: ['checkout'],
      },
    },
  },
  {
    endpoint: 24,
    name: 'does not find an unknown application',
    given: reported,
    request: { method: 'GET', path: `${METRICS}/applications/unknown` },
    expect: { status: 404, code: 'application_not_found' },
  },
  {
    endpoint: 24,
    name: 'shows how many names of unknown flags were dropped',
    given: (flags) =>
      flags.reportMetrics({
        application: 'web',
        start: NOW,
        stop: NOW,
        counts: Object.fromEntries(Array.from({ length: 103 }, (_, at) => [`name-${at}`, { yes: 1, no: 0 }])),
      }),
    request: { method: 'GET', path: `${METRICS}/applications/web` },
    expect: {
      status: 200,
      body: expect.objectContaining({ appName: 'web', droppedNames: 3 }),
    },
  },
  {
    endpoint: 'listUsage',
    name: 'lists the hours in which flags were evaluated',
    given: reportedHours,
    request: { method: 'GET', path: `${METRICS}/usage` },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        version: 1,
        usage: [hourOfUsage(9, { yes: 1, no: 0, variants: { disabled: 1 } }), hourOfUsage(11, { yes: 8, no: 2 })],
      },
    },
  },
  {
    endpoint: 'listUsage',
    name: 'lists days of an environment and an application',
    given: reportedHours,
    request: { method: 'GET', path: `${METRICS}/usage?days=2&environment=production&application=web` },
    expect: {
      status: 200,
      body: {
        version: 1,
        usage: [
          {
            ...{ feature: 'checkout', environment: 'production', appName: 'web', day: '2026-03-01T00:00:00.000Z' },
            ...{ yes: 9, no: 2, variants: { disabled: 1 } },
          },
        ],
      },
    },
  },
  {
    endpoint: 'listUsage',
    name: 'lists nothing of an environment without evaluations',
    given: reportedHours,
    request: { method: 'GET', path: `${METRICS}/usage?environment=development` },
    expect: { status: 200, body: { version: 1, usage: [] } },
  },
  {
    endpoint: 'listUsage',
    name: 'refuses hours and days together',
    request: { method: 'GET', path: `${METRICS}/usage?hours=1&days=1` },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'listUsage',
    name: 'refuses more hours than are kept',
    request: { method: 'GET', path: `${METRICS}/usage?hours=169` },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'listUsage',
    name: 'refuses an unknown environment',
    request: { method: 'GET', path: `${METRICS}/usage?environment=unknown` },
    expect: { status: 404, code: 'environment_not_found' },
  },
  {
    endpoint: 'listFlagUsage',
    name: 'lists every hour of a flag',
    given: reportedHours,
    request: { method: 'GET', path: `${METRICS}/usage/checkout?hours=5` },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        version: 1,
        usage: [
          hourOfUsage(8, { yes: 0, no: 0 }),
          hourOfUsage(9, { yes: 1, no: 0, variants: { disabled: 1 } }),
          hourOfUsage(10, { yes: 0, no: 0 }),
          hourOfUsage(11, { yes: 8, no: 2 }),
          hourOfUsage(12, { yes: 0, no: 0 }),
        ],
      },
    },
  },
  {
    endpoint: 'listFlagUsage',
    name: 'refuses an unknown environment',
    given: checkout,
    request: { method: 'GET', path: `${METRICS}/usage/checkout?environment=unknown` },
    expect: { status: 404, code: 'environment_not_found' },
  },
  {
    endpoint: 'listFlagUsage',
    name: 'refuses more days than are kept',
    given: checkout,
    request: { method: 'GET', path: `${METRICS}/usage/checkout?days=31` },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'listFlagUsage',
    name: 'does not find an unknown flag',
    request: { method: 'GET', path: `${METRICS}/usage/unknown` },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint: 'summarizeFlagUsage',
    name: 'shows the current hour by environment, and the applications of a day',
    given: inOrder(reportedHours, (flags) =>
      flags.reportMetrics({ application: 'web', start: NOW, stop: NOW, counts: COUNTS }),
    ),
    request: { method: 'GET', path: '/api/admin/client-metrics/features/checkout' },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        ...{ version: 1, maturity: 'stable', featureName: 'checkout' },
        lastHourUsage: [{ environment: 'production', timestamp: NOW, yes: 8, no: 2 }],
        seenApplications: ['web'],
      },
    },
  },
  {
    endpoint: 'summarizeFlagUsage',
    name: 'shows nothing of an unknown flag',
    request: { method: 'GET', path: '/api/admin/client-metrics/features/unknown' },
    expect: {
      status: 200,
      body: {
        ...{ version: 1, maturity: 'stable', featureName: 'unknown' },
        ...{ lastHourUsage: [], seenApplications: [] },
      },
    },
  },
  {
    endpoint: 'listRawFlagUsage',
    name: 'lists every hour by environment and application',
    given: reportedHours,
    request: { method: 'GET', path: '/api/admin/client-metrics/features/checkout/raw?hoursBack=3' },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        ...{ version: 1, maturity: 'stable' },
        data: [rawHour(10, { yes: 0, no: 0 }), rawHour(11, { yes: 8, no: 2 }), rawHour(12, { yes: 0, no: 0 })],
      },
    },
  },
  {
    endpoint: 'listRawFlagUsage',
    name: 'uses 24 hours for any other number',
    given: reportedHours,
    request: { method: 'GET', path: '/api/admin/client-metrics/features/checkout/raw?hoursBack=49' },
    expect: {
      status: 200,
      body: {
        ...{ version: 1, maturity: 'stable' },
        data: expect.arrayContaining([rawHour(9, { yes: 1, no: 0, variants: { disabled: 1 } })]),
      },
    },
  },
  {
    endpoint: 'deleteApplication',
    name: 'deletes an application',
    given: reported,
    request: { method: 'DELETE', path: `${METRICS}/applications/web` },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) => {
        expect((await flags.applications.list()).items).toEqual([]);
        expect((await flags.usage.listSeenFlags()).items).toEqual([]);
      },
    },
  },
  {
    endpoint: 'deleteNamedApplication',
    name: 'deletes the application that the query names',
    given: reported,
    request: { method: 'DELETE', path: `${METRICS}/applications?appName=web` },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) => expect((await flags.applications.list()).items).toEqual([]),
    },
  },
  {
    endpoint: 'deleteNamedApplication',
    name: 'needs a name',
    given: reported,
    request: { method: 'DELETE', path: `${METRICS}/applications` },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'deleteNamedApplication',
    name: 'does not find an unknown application',
    given: reported,
    request: { method: 'DELETE', path: `${METRICS}/applications?appName=..` },
    expect: { status: 404, code: 'application_not_found' },
  },
  {
    endpoint: 'deleteApplication',
    name: 'does not find an unknown application',
    given: reported,
    request: { method: 'DELETE', path: `${METRICS}/applications/unknown` },
    expect: { status: 404, code: 'application_not_found' },
  },
  {
    endpoint: 25,
    name: 'shows applications by flag',
    given: reported,
    request: { method: 'GET', path: `${METRICS}/seen-apps` },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        checkout: [
          {
            appName: 'web',
            createdAt: NOW,
            updatedAt: NOW,
            description: '',
            strategies: ['default', 'own'],
            url: '',
            color: null,
            icon: '',
          },
        ],
      },
    },
  },
];
