import type { Row } from '../row.js';
import { NOW, reported } from '../states.js';

const METRICS = '/api/admin/metrics';

const WEB = {
  appName: 'web',
  strategies: ['default', 'own'],
  createdAt: NOW,
  links: { appDetails: '/api/admin/applications/web' },
};

const COUNTS = { checkout: { yes: 8, no: 2 } };

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
    name: 'shows zeros for a minute in which nothing was counted',
    given: (flags) =>
      flags.reportMetrics({
        appName: 'web',
        bucket: { start: '2026-03-01T11:00:00.000Z', stop: '2026-03-01T11:30:00.000Z', toggles: COUNTS },
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
    name: 'leaves out those that do not',
    given: reported,
    request: { method: 'GET', path: `${METRICS}/applications?strategyName=other` },
    expect: { status: 200, body: { applications: [] } },
  },
  {
    endpoint: 23,
    name: 'takes repeated strategies as any of them',
    given: reported,
    request: { method: 'GET', path: `${METRICS}/applications?strategyName=other&strategyName=own` },
    expect: { status: 200, body: { applications: [WEB] } },
  },
  {
    endpoint: 23,
    name: 'takes an empty strategy as no filter',
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
    name: 'tells how many names of unknown flags were dropped',
    given: (flags) =>
      flags.reportMetrics({
        appName: 'web',
        bucket: {
          start: NOW,
          stop: NOW,
          toggles: Object.fromEntries(Array.from({ length: 103 }, (_, at) => [`name-${at}`, { yes: 1, no: 0 }])),
        },
      }),
    request: { method: 'GET', path: `${METRICS}/applications/web` },
    expect: {
      status: 200,
      body: expect.objectContaining({ appName: 'web', droppedNames: 3 }),
    },
  },
  {
    endpoint: 'deleteApplication',
    name: 'forgets an application',
    given: reported,
    request: { method: 'DELETE', path: `${METRICS}/applications/web` },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) => {
        expect(await flags.listApplications()).toEqual([]);
        expect(await flags.listSeenFlags()).toEqual([]);
      },
    },
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
