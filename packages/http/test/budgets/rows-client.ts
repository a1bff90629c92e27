import { inventedReport, largeRegistration, longText, manyParameters, padded, within } from './bodies.js';
import { type BudgetRow, together } from './row.js';

const granted = { isGranted: true } as const;
/** An SDK that gets segments once, not in every strategy. */
const newer = { headers: { 'unleash-client-spec': '5.2.0' } } as const;
const now = () => new Date().toISOString();

/** Contexts in the forms of the frontend API and OFREP, around the members of a context. */
function contexts(envelope: (members: string) => string): readonly BudgetRow[] {
  const long = (length: number) => envelope(`"userId":"${longText(length)}"`);
  return [
    { name: 'small context', body: () => envelope('"userId":"7"'), ...granted },
    { name: 'userId of 4,096', body: () => long(4096), ...granted },
    { name: 'userId of 1 MiB', body: () => padded(envelope('"userId":"…"')) },
    { name: 'properties of 1 MiB', body: () => padded(envelope('"properties":{"a":"…"}')) },
    { name: 'many properties', body: () => manyProperties(envelope) },
    { name: 'currentTime of 1 MiB', body: () => padded(envelope('"currentTime":"…"')) },
    { name: 'remoteAddress of 1 MiB', body: () => padded(envelope('"remoteAddress":"…"')) },
    { name: 'userId of 10,000', body: () => long(10_000), ...granted },
  ];
}

function manyProperties(envelope: (members: string) => string): string {
  const [head = '', tail = ''] = envelope('"properties":{…}').split('…');
  return within(head, (number) => `"p${number}":"v"`, tail);
}

const inContext = (members: string) => `{"context":{${members}}}`;
const inOfrep = (members: string) => `{"context":{"targetingKey":"7",${members}}}`;

/** Reports of one application that invents other names each time. */
function reports(application: string): readonly BudgetRow[] {
  return [
    { name: '10,000 invented names', body: (round) => inventedReport(application, 10_000, round), ...granted },
    {
      name: '10,000 invented names, 20 times',
      times: 20,
      body: (round) => inventedReport(application, 10_000, round + 1),
      ...granted,
    },
    {
      name: '20 applications that invent names',
      times: 20,
      body: (round) => inventedReport(`${application}-${round}`, 10_000, 0),
      ...granted,
    },
    { name: 'an hour later', advance: 3_700_000, body: () => inventedReport(application, 10, 1000), ...granted },
    { name: 'too many names', body: () => inventedReport(application, 25_000, 0) },
    {
      name: 'many variants',
      body: () =>
        within(
          `{"appName":"${application}","bucket":{"start":"${now()}","stop":"${now()}","toggles":{"flag-00001":{"yes":1,"no":1,"variants":{`,
          (number) => `"v${number}":1`,
          '}}}}}',
        ),
    },
  ];
}

function registrations(application: string): readonly BudgetRow[] {
  return [
    { name: '1,000 strategies', body: () => largeRegistration(application), ...granted },
    {
      name: '1,000 strategies, 30 applications',
      times: 30,
      body: (round) => largeRegistration(`${application}-${round}`),
      ...granted,
    },
    {
      name: 'strategies without end',
      body: () =>
        within(`{"appName":"${application}","started":"${now()}","interval":1,"strategies":[`, () => '"s"', ']}'),
    },
  ];
}

const bulk = (applications: number) => {
  const started = now();
  const names = Array.from({ length: applications }, (_, number) => `bulk-${number}`);
  const registered = names.map((appName) => ({
    appName,
    instanceId: 'i',
    strategies: ['default'],
    started,
    interval: 1,
  }));
  const metrics = names.map((appName, number) => ({
    featureName: `flag-${String(number).padStart(5, '0')}`,
    appName,
    environment: 'production',
    timestamp: started,
    yes: 1,
    no: 1,
  }));
  return JSON.stringify({ applications: registered, metrics });
};

export const CLIENT_ROWS = {
  listClientFlags: [
    { name: 'older SDK, segments inlined', ...granted },
    { name: 'newer SDK', ...newer, ...granted },
    ...together({ name: 'older SDK', ...granted }),
    ...together({ name: 'newer SDK', ...newer, ...granted }),
    {
      name: '50 sets of projects',
      times: 50,
      ...newer,
      path: (round) => `/api/client/features?project=default&project=p${round}`,
    },
    { name: '50 prefixes', times: 50, ...newer, path: (round) => `/api/client/features?namePrefix=flag-0${round}` },
    { name: 'projects without end', ...newer, path: `/api/client/features?${manyParameters('project')}` },
  ],
  getClientFlag: [{ name: 'of 1 MiB', path: '/api/client/features/largest', ...granted }],
  streamClientFlags: [{ name: 'hydration', ...granted }],
  streamRefetches: [
    { name: 'with a token', ...granted },
    { name: 'key of 8,000', path: `/ofrep/v1/event-stream?key=${'A'.repeat(8000)}` },
    ...together({ name: 'with a token', ...granted }),
  ],
  verifyTokens: [
    {
      name: '100 unknown secrets',
      body: () => JSON.stringify({ tokens: Array.from({ length: 100 }, (_, n) => `s${n}`) }),
    },
    { name: 'secret of 1 MiB', body: () => padded('{"tokens":["…"]}') },
    ...together({
      name: '100 unknown secrets',
      body: (round) => JSON.stringify({ tokens: Array.from({ length: 100 }, (_, n) => `s${round}-${n}`) }),
    }),
  ],
  registerApplication: registrations('client'),
  reportMetrics: [
    ...reports('server'),
    ...together({
      name: '10,000 invented names',
      body: (round) => inventedReport('together', 10_000, round),
      ...granted,
    }),
  ],
  reportMetricsInBulk: [
    { name: '1,000 applications', body: () => bulk(1000), ...granted },
    { name: 'wrong', body: () => within('{"applications":[', () => '{}', `],"metrics":[{}]}`) },
    {
      name: 'wrong metrics',
      body: () => within('{"applications":[],"metrics":[', () => '{"yes":-1,"appName":0}', ']}'),
    },
  ],
  evaluateFlags: [
    ...together({ name: 'small context', path: '/api/frontend?userId=7', ...granted }),
    { name: 'small context', path: '/api/frontend?userId=7', ...granted },
    { name: 'userId of 14,000', path: `/api/frontend?userId=${longText(14_000)}`, ...granted },
    { name: 'userId of 4,096', path: `/api/frontend?userId=${longText(4096)}`, ...granted },
    { name: 'many properties', path: `/api/frontend?${manyParameters('properties[a]')}` },
  ],
  evaluateFlagsForContext: [
    ...contexts(inContext),
    ...together({ name: 'a context of 1 MiB', body: () => manyProperties(inContext) }),
  ],
  registerFrontend: registrations('page'),
  reportFrontendMetrics: reports('page'),
  resolveFlag: contexts(inOfrep),
  resolveFlags: [
    ...contexts(inOfrep),
    ...together({ name: 'small context', body: () => inOfrep('"userId":"7"'), ...granted }),
  ],
} satisfies Record<string, readonly BudgetRow[]>;
