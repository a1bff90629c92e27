import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFlags, type Flags, memoryStorage } from '@flags/core';
import { createFlagsApi, toNodeHandler } from '../../src/index.js';
import { codeBlocks, read } from './documents.js';
import { runProgram } from './run-module.js';

const USERS = 60;
const PRODUCTION = { project: 'default', environment: 'production' };

interface Running {
  readonly flags: Flags;
  readonly server: Server;
  readonly url: string;
  readonly token: string;
}

async function start(): Promise<Running> {
  const flags = await createFlags({ storage: memoryStorage(), usageInterval: 0 });
  const { secret } = await flags.createToken({ name: 'comparison', kind: 'frontend' });
  const server = createServer(toNodeHandler(createFlagsApi(flags, { auth: 'token' }))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { flags, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: secret };
}

async function createContents(flags: Flags): Promise<void> {
  const strategies = {
    rollout: { name: 'flexibleRollout', parameters: { rollout: '30', stickiness: 'userId', groupId: 'rollout' } },
    users: { name: 'userWithId', parameters: { userIds: '1,3,5' } },
    constrained: {
      name: 'default',
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['2', '4'] } as const],
    },
    varied: { name: 'default' },
    off: { name: 'default' },
  };
  for (const [name, strategy] of Object.entries(strategies)) {
    await flags.createFlag(PRODUCTION, { name });
    await flags.addStrategy({ ...PRODUCTION, flag: name }, strategy);
    if (name !== 'off') await flags.enable({ ...PRODUCTION, flag: name });
  }
  await flags.setVariants({ project: 'default', flag: 'varied' }, [{ name: 'red' }, { name: 'blue' }]);
}

describe('the comparison in docs/moving-from-unleash.md', () => {
  let servers: readonly [Running, Running];

  beforeEach(async () => {
    servers = [await start(), await start()];
    const [old, next] = servers;
    await createContents(old.flags);
    await next.flags.importDefinitions(await old.flags.exportDefinitions());
  });

  afterEach(async () => {
    for (const { flags, server } of servers) {
      server.close();
      server.closeAllConnections();
      await flags.close();
    }
  });

  async function compare({ oldToken = servers[0].token } = {}): Promise<readonly string[]> {
    const lines: string[] = [];
    const [old, next] = servers;
    const code = codeBlocks(read('docs/moving-from-unleash.md'), 'ts')
      .join('\n')
      .replace('https://unleash.example.org', old.url)
      .replace('https://flags.example.org', next.url)
      .replace('user < 1000', `user < ${USERS}`);
    const env = { UNLEASH_FRONTEND_TOKEN: oldToken, FLAGS_FRONTEND_TOKEN: next.token };
    const scope = { process: { env }, console: { log: (line: string) => lines.push(line) } };
    await runProgram(code, { result: 'undefined', scope });
    return lines;
  }

  it('prints nothing after an import', async () => {
    expect(await compare()).toEqual([]);
  });

  it('names the flag, the user and both answers where they differ', async () => {
    const { flags } = servers[1];
    await flags.disable({ ...PRODUCTION, flag: 'constrained' });
    expect(await compare()).toEqual([
      'constrained for 2: disabled → undefined',
      'constrained for 4: disabled → undefined',
    ]);
    await flags.setVariants({ project: 'default', flag: 'varied' }, [{ name: 'red' }]);
    const lines = await compare();
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line).toMatch(/^constrained for [24]: |^varied for \d+: blue → red$/);
  });

  it('ends with the answer of a server that refuses the token', async () => {
    await expect(compare({ oldToken: 'wrong' })).rejects.toThrow(/answers 401/);
  });
});
