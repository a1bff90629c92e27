import { placeAt } from '../population.js';
import type { SentRequest } from './exchange.js';
import type { Content } from './flags-server.js';

/** One route under load. */
export interface Scenario {
  readonly name: string;
  readonly content: Content;
  readonly token: 'admin' | 'client';
  /** The nth request. A request of a change must have an effect. */
  readonly request: (number: number) => SentRequest;
  /** Sends the `ETag` of the first answer along. */
  readonly conditional?: true;
  readonly isRead?: true;
}

const PROJECT = '/api/admin/projects/default';
const FEATURES = `${PROJECT}/features`;
const CLIENT = '/api/client/features';
const SIZES = [10, 100, 1000, 10_000];
const WRITTEN = 1000;
const COUNTED = 10;

export const SCENARIOS: readonly Scenario[] = [
  { ...read(FEATURES, 1000), name: 'one flag, 1,000 in turn', request: (n) => get(flagPath(n % 1000)) },
  { ...read(FEATURES, 1000, 20), name: 'one flag, 20 changes a second', request: (n) => get(flagPath(n % 1000)) },
  ...SIZES.map((flags) => ({ ...read(FEATURES, flags), name: `list, ${count(flags)}` })),
  { ...read(FEATURES, 1000, 20), name: 'list, 1,000 flags, 20 changes a second' },
  ...SIZES.map((flags) => ({ ...read(PROJECT, flags), name: `overview, ${count(flags)}` })),
  ...[100, 1000].flatMap((flags): Scenario[] => {
    const features = { ...read(CLIENT, flags), name: `client features, ${count(flags)}`, token: 'client' } as const;
    return [features, { ...features, name: `${features.name}, If-None-Match`, conditional: true }];
  }),
  write('create flag', (n) => post(FEATURES, { name: `new-${n}`, description: 'Made under load' })),
  write('on and off', (n) => ({
    method: 'POST',
    path: `${flagPath(n % WRITTEN)}/environments/production/${round(n) % 2 === 0 ? 'off' : 'on'}`,
  })),
  write('add strategy', (n) =>
    post(`${flagPath(n % WRITTEN)}/environments/development/strategies`, {
      name: 'flexibleRollout',
      parameters: { rollout: 50, stickiness: 'default', groupId: 'load' },
      constraints: [{ contextName: 'country', operator: 'IN', values: ['no', 'se'] }],
    }),
  ),
  write('set variants', (n) => ({
    ...post(
      `${flagPath(n % WRITTEN)}/variants`,
      ['red', 'blue', `shade-${round(n) % 2}`].map((name) => ({ name })),
    ),
    method: 'PUT',
  })),
  { ...write('report of 10 flags', (n) => post('/api/client/metrics', report(n))), token: 'client' },
];

function read(path: string, flags: number, changesPerSecond = 0) {
  return { content: { flags, changesPerSecond }, token: 'admin', isRead: true, request: () => get(path) } as const;
}

function write(name: string, request: Scenario['request']): Scenario {
  return { name, content: { flags: WRITTEN, changesPerSecond: 0 }, token: 'admin', request };
}

function get(path: string): SentRequest {
  return { method: 'GET', path };
}

function post(path: string, body: unknown): SentRequest {
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', path, headers, body: JSON.stringify(body) };
}

function flagPath(number: number): string {
  return `${FEATURES}/${placeAt(number).flag}`;
}

/** The number of earlier writes of every flag. */
function round(number: number): number {
  return Math.floor(number / WRITTEN);
}

function report(number: number): object {
  const names = Array.from({ length: COUNTED }, (_, at) => placeAt((number * COUNTED + at) % WRITTEN).flag);
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

/** Returns a function that returns the next request of a scenario, with a token. */
export function requestsOf({ request }: Scenario, token: string): () => SentRequest {
  let number = 0;
  return () => withHeader(request(number++), 'authorization', token);
}

export function withHeader(request: SentRequest, name: string, value: string): SentRequest {
  return { ...request, headers: { ...request.headers, [name]: value } };
}
