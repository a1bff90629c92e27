import { type Content, flagName } from './content.js';
import type { SentRequest } from './exchange.js';

/** One route under load. */
export interface Scenario {
  readonly name: string;
  readonly content: Content;
  /** The least share of the bare handler's requests per second; undefined where none is set. */
  readonly aim?: number;
  readonly token: 'admin' | 'client';
  /** The route, in Express syntax, for the bare handler. */
  readonly path: string;
  /** The nth request. For requests that change something it must not be one that changes nothing. */
  readonly request: (number: number) => SentRequest;
  /** Sends the `ETag` of the first answer along. */
  readonly conditional?: true;
  /** What kind of rows it leaves behind. */
  readonly writes?: 'created' | 'changed' | 'reported';
}

const PROJECT = '/api/admin/projects/default';
const FEATURES = `${PROJECT}/features`;
const FLAG = `${FEATURES}/:flag`;
const STRATEGIES = `${FLAG}/environments/:environment/strategies`;
const CLIENT = '/api/client/features';
const SIZES = [10, 100, 1000, 10_000];
const WRITTEN = 1000;
const COUNTED = 5;

export const SCENARIOS: readonly Scenario[] = [
  { ...read(FLAG, 1000), name: 'one flag, 1,000 in turn', aim: 0.75, request: (n) => get(flagPath(n % 1000)) },
  { ...read(FLAG, 1000, 20), name: 'one flag, 20 changes a second', request: (n) => get(flagPath(n % 1000)) },
  ...SIZES.map((flags) => ({ ...read(FEATURES, flags), name: `list, ${count(flags)}`, ...aimFor(flags) })),
  { ...read(FEATURES, 1000, 20), name: 'list, 1,000 flags, 20 changes a second' },
  ...SIZES.map((flags) => ({ ...read(PROJECT, flags), name: `overview, ${count(flags)}`, ...aimFor(flags) })),
  ...[100, 1000].flatMap((flags): Scenario[] => {
    const features = {
      ...read(CLIENT, flags),
      name: `client features, ${count(flags)}`,
      aim: 0.9,
      token: 'client',
    } as const;
    return [features, { ...features, name: `${features.name}, If-None-Match`, conditional: true }];
  }),
  {
    ...write('create flag', FEATURES, (n) => post(FEATURES, { name: `new-${n}`, description: 'Made under load' })),
    writes: 'created',
  },
  write('on and off', `${FLAG}/environments/:environment/:state`, (n) => ({
    method: 'POST',
    path: `${flagPath(n % WRITTEN)}/environments/production/${round(n) % 2 === 0 ? 'on' : 'off'}`,
  })),
  write('add strategy', STRATEGIES, (n) =>
    post(`${flagPath(n % WRITTEN)}/environments/development/strategies`, {
      name: 'flexibleRollout',
      parameters: { rollout: 50, stickiness: 'default', groupId: 'load' },
      constraints: [{ contextName: 'country', operator: 'IN', values: ['no', 'se'] }],
    }),
  ),
  write('set variants', `${FLAG}/variants`, (n) => ({
    ...post(
      `${flagPath(n % WRITTEN)}/variants`,
      ['red', 'blue', `shade-${round(n) % 2}`].map((name) => ({ name })),
    ),
    method: 'PUT',
  })),
  {
    ...write('report metrics', '/api/client/metrics', (n) => post('/api/client/metrics', report(n))),
    token: 'client',
    aim: 0.6,
    writes: 'reported',
  },
];

function read(path: string, flags: number, changesPerSecond = 0) {
  return { path, content: { flags, changesPerSecond }, token: 'admin', request: () => get(path) } as const;
}

function write(name: string, path: string, request: Scenario['request']): Scenario {
  return { name, path, content: { flags: WRITTEN, changesPerSecond: 0 }, token: 'admin', request, writes: 'changed' };
}

function aimFor(flags: number): { readonly aim?: number } {
  return flags === 1000 ? { aim: 0.6 } : {};
}

function get(path: string): SentRequest {
  const [route = path] = path.split('/:');
  return { method: 'GET', path: route };
}

function post(path: string, body: unknown): SentRequest {
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', path, headers, body: JSON.stringify(body) };
}

function flagPath(number: number): string {
  return `${FEATURES}/${flagName(number)}`;
}

/** How often every flag has been written before. */
function round(number: number): number {
  return Math.floor(number / WRITTEN);
}

function report(number: number): object {
  const names = Array.from({ length: COUNTED }, (_, at) => flagName((number * COUNTED + at) % WRITTEN));
  const now = new Date();
  const bucket = {
    start: new Date(now.getTime() - 60_000).toISOString(),
    stop: now.toISOString(),
    toggles: Object.fromEntries(names.map((name) => [name, { yes: 3, no: 1 }])),
  };
  return { appName: 'shop', instanceId: `shop-${number % 10}`, bucket };
}

function count(flags: number): string {
  return `${flags.toLocaleString('en')} flags`;
}
