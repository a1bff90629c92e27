import { flagName } from '../http/content.js';
import type { SentRequest } from '../http/exchange.js';
import { get, post } from './content.js';
import { clientFeatures, flagFacts, overview, projects, strategyCount, switchedOn, wasSeen } from './facts.js';

/** One kind of request under load. */
export interface Scenario {
  readonly name: string;
  /** How many flags there are. */
  readonly flags: number;
  readonly token: 'admin' | 'client';
  /** The nth request. Requests that write always change something. */
  readonly request: (number: number) => SentRequest;
  /** What is expected. */
  readonly status: number;
  /** Sends the `ETag` of the first answer along. */
  readonly conditional?: true;
  /** How it is seen, after the first request, that all do the same. */
  readonly proof: Proof;
}

export interface Proof {
  /** The request whose answer shows it; the first request itself when absent. */
  readonly request?: SentRequest;
  /** What all must agree on; undefined as long as nothing is to be seen. */
  readonly facts: (body: unknown) => unknown;
}

const PROJECT = '/api/admin/projects/default';
const FEATURES = `${PROJECT}/features`;
const CLIENT = '/api/client/features';
const FIRST = flagPath(0);
const WRITTEN = 1000;
const REPORTED = 5;

/** In this order: those that read, by number of flags, before those that write; what makes flags comes last. */
export const SCENARIOS: readonly Scenario[] = [
  ...[100, 1000].flatMap((flags): Scenario[] => {
    const name = `client features, ${flags.toLocaleString('en')} flags`;
    const polled = { ...read(name, CLIENT, clientFeatures), flags, token: 'client' } as const;
    return [polled, { ...polled, name: `${name}, If-None-Match`, status: 304, conditional: true }];
  }),
  read('list of projects', '/api/admin/projects', projects),
  read('project overview, 1,000 flags', PROJECT, overview),
  read('list, 1,000 flags', FEATURES, overview),
  { ...read('one flag of 1,000', FIRST, flagFacts), request: (n) => get(flagPath(n % WRITTEN)) },
  write('on and off', (n) => post(`${flagPath(n % WRITTEN)}/environments/production/${stateOf(n)}`, {}), switchedOn),
  write(
    'add strategy',
    (n) =>
      post(`${flagPath(n % WRITTEN)}/environments/development/strategies`, {
        name: 'flexibleRollout',
        parameters: { rollout: '50', stickiness: 'default', groupId: 'load' },
        constraints: [{ contextName: 'appName', operator: 'IN', values: ['shop', 'stock'] }],
      }),
    strategyCount,
  ),
  {
    ...write('report metrics', (n) => post('/api/client/metrics', report(n)), wasSeen),
    token: 'client',
    status: 202,
  },
  {
    ...write('create flag', (n) => post(FEATURES, { name: `new-${n}`, description: 'Made under load' }), flagFacts),
    status: 201,
    proof: { request: get(`${FEATURES}/new-0`), facts: flagFacts },
  },
];

function read(name: string, path: string, facts: Proof['facts']): Scenario {
  return { name, flags: 1000, token: 'admin', request: () => get(path), status: 200, proof: { facts } };
}

/** The first flag shows whether it was done. */
function write(name: string, request: Scenario['request'], facts: Proof['facts']): Scenario {
  return { name, flags: 1000, token: 'admin', request, status: 200, proof: { request: get(FIRST), facts } };
}

function flagPath(number: number): string {
  return `${FEATURES}/${flagName(number)}`;
}

/** Every flag is on after the first turn, off after the second. */
function stateOf(number: number): 'on' | 'off' {
  return Math.floor(number / WRITTEN) % 2 === 0 ? 'on' : 'off';
}

function report(number: number): object {
  const now = new Date();
  const names = Array.from({ length: REPORTED }, (_, at) => flagName((number * REPORTED + at) % WRITTEN));
  return {
    appName: 'shop',
    instanceId: `shop-${number % 10}`,
    bucket: {
      start: new Date(now.getTime() - 60_000).toISOString(),
      stop: now.toISOString(),
      toggles: Object.fromEntries(names.map((name) => [name, { yes: 3, no: 1 }])),
    },
  };
}
