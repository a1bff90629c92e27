import type { EventEmitter } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Flags, StrategyInput } from '@flags/core';
import { until } from '../../../../test/until.js';
import { createOn } from '../client/states.js';
import { PLACES_IN_LENGTH } from '../followers.js';
import { expectMetricsOf } from './metrics-seen.js';
import { PRODUCTION, type RestartingServer, startRestartingServer } from './restarting-server.js';

interface Context {
  readonly userId: string;
  readonly properties: Readonly<Record<string, string>>;
}

interface OldUnleash extends EventEmitter {
  isEnabled(flag: string, context: Context): boolean;
  destroy(): void;
}

type OldClient = { readonly Unleash: new (options: object) => OldUnleash };

const USERS: readonly Context[] = Array.from({ length: 60 }, (_, n) => ({
  userId: `${n}`,
  properties: { region: n % 3 === 0 ? 'eu' : 'us' },
}));

const NOBODY: Context = { userId: '', properties: {} };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flags-old-sdk-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Creates flags that are on for some users by their segments. Returns their names. */
async function createSegmentFlags(flags: Flags): Promise<readonly string[]> {
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `${from + n}`);
  const { id: low } = await flags.segments.create({
    name: 'low',
    constraints: [{ contextName: 'userId', operator: 'IN', values: range(0, 30) }],
  });
  const { id: european } = await flags.segments.create({
    name: 'european',
    constraints: [
      { contextName: 'region', operator: 'IN', values: ['eu'] },
      { contextName: 'userId', operator: 'NOT_IN', values: ['0', '3'] },
    ],
  });
  const strategies: Readonly<Record<string, readonly StrategyInput[]>> = {
    one: [{ name: 'default', segments: [low] }],
    both: [{ name: 'default', segments: [low, european] }],
    either: [
      { name: 'default', segments: [low] },
      { name: 'default', segments: [european] },
    ],
    rollout: [
      {
        name: 'flexibleRollout',
        parameters: { rollout: 50, groupId: 'rollout', stickiness: 'userId' },
        constraints: [{ contextName: 'userId', operator: 'NOT_IN', values: ['7'] }],
        segments: [european],
      },
    ],
  };
  for (const [name, list] of Object.entries(strategies)) {
    const ref = { project: 'default', flag: name, environment: 'production' };
    await createOn(flags, { name });
    const [first] = (await flags.getFlag(ref)).environments.find((one) => one.name === 'production')?.strategies ?? [];
    for (const strategy of list) await flags.addStrategy(ref, strategy);
    if (first) await flags.removeStrategy({ ...ref, strategy: first.id });
  }
  return Object.keys(strategies);
}

const CLIENTS: readonly (readonly [version: string, load: () => OldClient])[] = [
  ['3.9', () => require('unleash-client-3.9')],
  ['3.11', () => require('unleash-client-3.11')],
  ['3.13', () => require('unleash-client-3.13')],
];

const CASES = PLACES_IN_LENGTH.flatMap((place) => CLIENTS.map(([version, load]) => [version, place, load] as const));

describe.each(CASES)('unleash-client %s, served by %s', (version, place, load) => {
  let server: RestartingServer;
  let unleash: OldUnleash;
  let problems: string[];

  beforeEach(async () => {
    server = await startRestartingServer(place);
  });

  afterEach(async () => {
    unleash.destroy();
    // It has dropped its listeners, but not the running request, whose failure would end the process of the tests.
    const repository: EventEmitter = Reflect.get(unleash, 'repository');
    repository.on('error', () => undefined);
    await server.stop();
  });

  function start(appName: string, token = server.secrets.client): void {
    const { Unleash } = load();
    unleash = new Unleash({
      url: `${server.url}/api/`,
      appName,
      refreshInterval: 20,
      metricsInterval: 50,
      backupPath: folder,
      customHeaders: { Authorization: token },
    });
    problems = [];
    for (const event of ['error', 'warn']) unleash.on(event, (problem: unknown) => problems.push(String(problem)));
  }

  it('evaluates segments like the library, and receives their changes', async () => {
    const flags = server.flags();
    const names = await createSegmentFlags(flags);
    await server.untilCurrent();
    start('old');
    const expected = () => names.map((name) => USERS.map((user) => flags.isEnabled(name, user)));
    const actual = () => names.map((name) => USERS.map((user) => unleash.isEnabled(name, user)));
    await until(() => actual().every((answers) => answers.includes(true)));
    for (const answers of expected()) expect(new Set(answers).size).toBe(2);
    expect(actual()).toEqual(expected());

    const before = JSON.stringify(actual());
    const constraints = [{ contextName: 'userId', operator: 'IN' as const, values: ['50'] }];
    await flags.segments.update({ segment: 1 }, { name: 'low', constraints });
    await until(() => JSON.stringify(actual()) !== before);
    expect(actual()).toEqual(expected());
  }, 60_000);

  it('reports usage that every metrics endpoint shows', async () => {
    start(`old-${version}`);
    let evaluations = 0;
    const evaluate = () => {
      evaluations += 1;
      return unleash.isEnabled('checkout', NOBODY);
    };
    await until(evaluate);
    while (evaluations < 100) evaluate();
    await expectMetricsOf(`old-${version}`, server, { strategies: ['default'], evaluations });
  }, 60_000);

  it('is refused once its token is deleted', async () => {
    start('guest');
    await until(() => unleash.isEnabled('checkout', NOBODY));
    problems = [];
    await server.flags().tokens.delete({ token: server.secrets.client });
    await until(() => problems.some((problem) => problem.includes('401')));
    // It keeps what it had.
    await server.flags().disable(PRODUCTION);
    await server.untilCurrent();
    expect(unleash.isEnabled('checkout', NOBODY)).toBe(true);
  }, 60_000);
});
