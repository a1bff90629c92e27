import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import { createFlagsApi, toNodeHandler } from '../../src/index.js';
import { codeBlocks, read } from './documents.js';
import { runProgram } from './run-module.js';

describe('.ci/check-audit', () => {
  /** The audit of an available registry. */
  const report = (counts: object) => JSON.stringify({ metadata: { vulnerabilities: counts } });
  const CLEAN = report({ low: 3, moderate: 2, high: 0, critical: 0 });

  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'flags-audit-'));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs it with an `npx` that prints an answer of the registry. */
  function check(answer: string, setting?: string) {
    writeFileSync(join(folder, 'answer'), answer);
    writeFileSync(join(folder, 'npx'), `#!/bin/sh\nexec cat '${join(folder, 'answer')}'\n`, { mode: 0o755 });
    const { FLAGS_AUDIT: _, ...environment } = process.env;
    const env = { ...environment, PATH: `${folder}${delimiter}${process.env.PATH}` };
    const program = join(__dirname, '../../../../.ci/check-audit');
    const { status, stdout } = spawnSync(program, {
      env: { ...env, ...(setting && { FLAGS_AUDIT: setting }) },
      encoding: 'utf8',
    });
    return { status, stdout };
  }

  it.each([undefined, 'offline', 'required'])('passes without high or critical vulnerabilities (%s)', (setting) => {
    expect(check(CLEAN, setting)).toEqual({ status: 0, stdout: expect.stringContaining('0 critical, 0 high') });
  });

  it.each([undefined, 'offline', 'required'])('fails for a high vulnerability (%s)', (setting) => {
    expect(check(report({ high: 1 }), setting).status).toBe(1);
  });

  it.each([undefined, 'required'])('fails when the audit cannot run (%s)', (setting) => {
    const { status, stdout } = check('ERR_PNPM_AUDIT_BAD_RESPONSE: it responded with 405', setting);
    expect(status).toBe(1);
    expect(stdout).toContain('AUDIT NOT RUN: the registry did not answer (responded with 405).');
    expect(stdout).toContain('FLAGS_AUDIT=offline');
  });

  it('reports an audit that cannot run, and passes in offline mode', () => {
    expect(check('', 'offline')).toEqual({ status: 0, stdout: expect.stringMatching(/^AUDIT NOT RUN/) });
  });
});

describe('the comparison in docs/moving-from-unleash.md', () => {
  const USERS = 60;
  const PRODUCTION = { project: 'default', environment: 'production' };

  interface Running {
    readonly flags: Flags;
    readonly server: Server;
    readonly url: string;
    readonly token: string;
  }

  async function start(): Promise<Running> {
    const flags = await openFlags({ storage: memoryStorage(), usage: { interval: 0 } });
    const { secret } = await flags.tokens.create({ name: 'comparison', kind: 'frontend' });
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
        constraints: [{ contextName: 'userId', operator: 'IN', values: ['2', '4'] }],
      },
      varied: { name: 'default' },
      off: { name: 'default' },
    } as const;
    for (const [name, strategy] of Object.entries(strategies)) {
      await flags.createFlag(PRODUCTION, { name });
      await flags.addStrategy({ ...PRODUCTION, flag: name }, strategy);
      if (name !== 'off') await flags.enable({ ...PRODUCTION, flag: name });
    }
    await flags.setVariants({ project: 'default', flag: 'varied' }, [{ name: 'red' }, { name: 'blue' }]);
  }

  let servers: readonly [Running, Running];

  beforeEach(async () => {
    servers = [await start(), await start()];
    const [old, next] = servers;
    await createContents(old.flags);
    await next.flags.definitions.import(await old.flags.definitions.export());
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
