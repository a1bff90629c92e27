import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { Flags } from '@flags/core';
import { codeBlocks, read } from './documents.js';
import { runProgram } from './run-module.js';

interface Program {
  readonly flags: Flags;
  readonly server: Server;
  readonly unsubscribe: () => void;
}

const source = codeBlocks(read('README.md'), 'js').join('\n');
const printed: string[] = [];
let directory: string;
let program: Program;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flags-readme-'));
  const console = { log: (value: unknown) => printed.push(inspect(value)), info: () => undefined };
  const movable = source
    .replace("'./flags.db'", JSON.stringify(join(directory, 'flags.db')))
    .replace('listen(4242,', 'listen(0,');
  program = (await runProgram(movable, { result: '{ flags, server, unsubscribe }', scope: { console } })) as Program;
  await once(program.server, 'listening');
});

afterAll(async () => {
  program.server.close();
  program.server.closeAllConnections();
  await program.flags.close();
  await rm(directory, { recursive: true });
});

describe("the README's code", () => {
  it('prints what it says', () => {
    const promised = [...source.matchAll(/console\.log\(.*\/\/ → (.*)$/gm)].map(([, value]) => value);
    expect(promised.length).toBeGreaterThan(0);
    expect(printed).toEqual(promised);
  });

  it('serves the admin API, which asks for a token', async () => {
    const { port } = program.server.address() as AddressInfo;
    const projects = `http://127.0.0.1:${port}/api/admin/projects`;
    const { secret } = await program.flags.createToken({ name: 'reader', kind: 'admin' });
    expect((await fetch(projects)).status).toBe(401);
    expect((await fetch(projects, { headers: { authorization: secret } })).status).toBe(200);
  });

  it("serves it once more under a path, for the application's own users", async () => {
    const { port } = program.server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/internal/flags/api/admin/projects`);
    expect(response.status).toBe(401);
  });
});
