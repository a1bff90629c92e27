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
  /** Only in documents that mount the router. */
  readonly server?: Server;
  readonly unsubscribe?: () => void;
}

const printed: string[] = [];
let directory: string;
let program: Program | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flags-docs-'));
  printed.length = 0;
});

afterEach(async () => {
  program?.server?.close();
  program?.server?.closeAllConnections();
  await program?.flags.close();
  program = undefined;
  await rm(directory, { recursive: true });
});

const programOf = (path: string) => codeBlocks(read(path), 'js').join('\n');

/** Runs the code blocks of a document as one program, on a temporary file and a free port. */
async function run(path: string): Promise<Program> {
  const source = programOf(path);
  const console = { log: (...values: unknown[]) => printed.push(values.map((value) => inspect(value)).join(' ')) };
  const movable = source
    .replace("'./flags.db'", JSON.stringify(join(directory, 'flags.db')))
    .replace('listen(4242,', 'listen(0,');
  const names = ['flags', 'server', 'unsubscribe'].filter((name) => source.includes(`const ${name} = `));
  const scope = { console: { ...console, info: () => undefined } };
  program = (await runProgram(movable, { result: `{ ${names.join(', ')} }`, scope })) as Program;
  return program;
}

async function addressOf({ server }: Program): Promise<string> {
  if (server === undefined) throw new Error('The document starts no server.');
  if (!server.listening) await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.each(['README.md', 'docs/typed-api.md', 'docs/error-codes.md'])('the code of %s', (path) => {
  it('prints the values in its comments', async () => {
    const promised = [...programOf(path).matchAll(/console\.log\(.*\/\/ → (.*)$/gm)].map(([, value]) => value);
    expect(promised.length).toBeGreaterThan(0);
    await run(path);
    expect(printed).toEqual(promised);
  });
});

describe.each(['README.md', 'docs/http-api.md'])('the router of %s', (path) => {
  it('serves the admin API, which requires a token', async () => {
    const running = await run(path);
    const projects = `${await addressOf(running)}/api/admin/projects`;
    const { secret } = await running.flags.createToken({ name: 'reader', kind: 'admin' });
    expect((await fetch(projects)).status).toBe(401);
    expect((await fetch(projects, { headers: { authorization: secret } })).status).toBe(200);
  });
});

describe('the second router of docs/http-api.md', () => {
  it('serves the admin API under a path, for users of the application', async () => {
    const running = await run('docs/http-api.md');
    const response = await fetch(`${await addressOf(running)}/internal/flags/api/admin/projects`);
    expect(response.status).toBe(401);
  });
});

describe('the middleware of docs/http-api.md', () => {
  it('sets the flags of each request', async () => {
    const response = await fetch(`${await addressOf(await run('docs/http-api.md'))}/checkout`);
    expect(await response.text()).toBe('old');
  });
});
