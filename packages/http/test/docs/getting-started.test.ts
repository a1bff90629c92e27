import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Flags } from '@flags/core';
import { codeBlocks, read } from './documents.js';
import { runProgram } from './run-module.js';

interface Program {
  readonly flags: Flags;
  readonly server?: Server;
}

async function originOf({ server }: Program): Promise<string> {
  if (!server) throw new Error('The program starts no server.');
  if (!server.listening) await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the code of docs/getting-started.md', () => {
  const [evaluate = '', mount = '', test = ''] = codeBlocks(read('docs/getting-started.md'), 'js');
  const printed: unknown[][] = [];
  const programs: Program[] = [];
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'flags-docs-'));
    printed.length = 0;
  });

  afterEach(async () => {
    await Promise.all(programs.splice(0).map(close));
    await rm(directory, { recursive: true });
  });

  async function close({ flags, server }: Program): Promise<void> {
    server?.close();
    server?.closeAllConnections();
    await flags.close();
  }

  async function run(...blocks: readonly string[]): Promise<Program> {
    const code = blocks
      .join('\n')
      .replace("'./flags.db'", JSON.stringify(join(directory, 'flags.db')))
      .replace('listen(4242,', 'listen(0,');
    const result = `{ flags, server: typeof server === 'undefined' ? undefined : server }`;
    const console = { log: (...values: unknown[]) => printed.push(values) };
    const scope = { console, process: { once: () => undefined } };
    const program = (await runProgram(code, { result, scope })) as Program;
    programs.push(program);
    return program;
  }

  it('starts twice, prints users inside and outside of the rollout, and accepts its token', async () => {
    await close(await run(evaluate));
    const program = await run(evaluate, mount);
    expect(new Set(printed.slice(0, 4).map(([, value]) => value))).toEqual(new Set([true, false]));
    expect(printed.slice(4, 8)).toEqual(printed.slice(0, 4));
    const [, path = '', secret = ''] = /4242(\S+) with the token (\S+)$/.exec(String(printed[8])) ?? [];
    const origin = await originOf(program);
    expect((await fetch(`${origin}${path}`)).status).toBe(200);
    const headers = { authorization: secret };
    expect((await fetch(`${origin}/internal/flags/api/admin/projects`, { headers })).status).toBe(200);
    await close(program);
    await run(evaluate, mount);
    expect(printed).toHaveLength(13);
  });

  it('tests without a file', async () => {
    const { flags } = await run(test);
    expect(flags.isEnabled('checkout')).toBe(true);
  });
});
