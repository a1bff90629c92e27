import type { EventEmitter } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Flags, StrategyInput } from '@flags/core';
import { until } from '../../../../test/until.js';
import { createOn } from '../client/states.js';
import { type RestartingServer, startRestartingServer } from './restarting-server.js';

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

let server: RestartingServer;
let folder: string;

beforeEach(async () => {
  server = await startRestartingServer();
  folder = await mkdtemp(join(tmpdir(), 'flags-old-sdk-'));
});

afterEach(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Creates flags that are on for some users by their segments. Returns their names. */
async function createSegmentFlags(flags: Flags): Promise<readonly string[]> {
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `${from + n}`);
  const { id: low } = await flags.createSegment({
    name: 'low',
    constraints: [{ contextName: 'userId', operator: 'IN', values: range(0, 30) }],
  });
  const { id: european } = await flags.createSegment({
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

describe.each(CLIENTS)('unleash-client %s', (_version, load) => {
  it('evaluates segments like the library, and receives their changes', async () => {
    const flags = server.flags();
    const names = await createSegmentFlags(flags);
    const { Unleash } = load();
    const unleash = new Unleash({
      url: `${server.url}/api/`,
      appName: 'old',
      refreshInterval: 20,
      disableMetrics: true,
      backupPath: folder,
      customHeaders: { Authorization: server.secrets.client },
    });
    unleash.on('error', () => undefined);
    unleash.on('warn', () => undefined);
    const expected = () => names.map((name) => USERS.map((user) => flags.isEnabled(name, user)));
    const actual = () => names.map((name) => USERS.map((user) => unleash.isEnabled(name, user)));
    await until(() => actual().every((answers) => answers.includes(true)));
    for (const answers of expected()) expect(new Set(answers).size).toBe(2);
    expect(actual()).toEqual(expected());

    const before = JSON.stringify(actual());
    const constraints = [{ contextName: 'userId', operator: 'IN' as const, values: ['50'] }];
    await flags.updateSegment({ segment: 1 }, { name: 'low', constraints });
    await until(() => JSON.stringify(actual()) !== before);
    expect(actual()).toEqual(expected());
    unleash.destroy();
  }, 60_000);
});
