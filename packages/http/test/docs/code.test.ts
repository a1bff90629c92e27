import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import express from 'express';
import { createFlagsRouter } from '../../../express/src/index.js';
import { codeBlocks, read } from './documents.js';
import { runProgram } from './run-module.js';

/** The handlers of SIGTERM that a program registers. */
type StopHandlers = (() => unknown)[];

/** Receives the handlers in the place of `process`. */
function processFor(handlers: StopHandlers) {
  return { env: {}, once: (_signal: string, handler: () => unknown) => handlers.push(handler) };
}

/** Opens a stream, sends SIGTERM, and waits until the server has stopped and the stream has ended. */
async function stopWhileStreaming(
  { flags, server }: { readonly flags: Flags; readonly server: Server },
  { url, handlers }: { readonly url: string; readonly handlers: StopHandlers },
): Promise<void> {
  const { secret } = await flags.tokens.create({ name: 'sdk', kind: 'client', environment: 'production' });
  const stream = await fetch(`${url}/api/client/streaming`, { headers: { authorization: secret } });
  expect(stream.status).toBe(200);
  const isStopped = once(server, 'close');
  expect(handlers).toHaveLength(1);
  for (const handler of handlers) handler();
  await isStopped;
  // Ends, or breaks: the server may close the connection before the last chunk has left.
  await stream.text().catch(() => undefined);
  await flags.close();
}

describe('the code of docs/getting-started.md', () => {
  interface Program {
    readonly flags: Flags;
    readonly server?: Server;
  }

  async function originOf({ server }: Program): Promise<string> {
    if (!server) throw new Error('The program starts no server.');
    if (!server.listening) await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const [evaluate = '', open = '', mount = ''] = codeBlocks(read('docs/getting-started.md'), 'js');
  /** The first program with the line that the guide replaces, so that it keeps its flags in a file. */
  const evaluateInFile = evaluate.replace(/^const flags = .*$/m, open);
  const printed: unknown[][] = [];
  const programs: Program[] = [];
  const handlers: StopHandlers = [];
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'flags-docs-'));
    printed.length = 0;
    handlers.length = 0;
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

  let environment: Readonly<Record<string, string>> = {};

  async function run(...blocks: readonly string[]): Promise<Program> {
    const code = blocks
      .join('\n')
      .replace("'./flags.db'", JSON.stringify(join(directory, 'flags.db')))
      .replace('listen(4242,', 'listen(0,');
    const result = `{ flags, server: typeof server === 'undefined' ? undefined : server }`;
    const console = { log: (...values: unknown[]) => printed.push(values) };
    const scope = { console, process: { ...processFor(handlers), env: environment } };
    const program = (await runProgram(code, { result, scope })) as Program;
    programs.push(program);
    return program;
  }

  it('prints users inside and outside of the rollout, without a file', async () => {
    await run(evaluate);
    expect(new Set(printed.map(([, value]) => value))).toEqual(new Set([true, false]));
  });

  it('asks production, and the environment that the variable names', async () => {
    const { flags: byDefault } = await run(evaluate);
    expect(byDefault.settings.environment).toBe('production');
    environment = { FLAGS_ENVIRONMENT: 'development' };
    printed.length = 0;
    const { flags: elsewhere } = await run(evaluate).finally(() => {
      environment = {};
    });
    expect(elsewhere.settings.environment).toBe('development');
    expect(new Set(printed.map(([, value]) => value))).toEqual(new Set([false]));
  });

  it('starts twice on a file, prints users inside and outside of the rollout, and accepts its token', async () => {
    await close(await run(evaluateInFile));
    const program = await run(evaluateInFile, mount);
    expect(new Set(printed.slice(0, 4).map(([, value]) => value))).toEqual(new Set([true, false]));
    expect(printed.slice(4, 8)).toEqual(printed.slice(0, 4));
    const [, path = '', secret = ''] = /4242(\S+) with the token (\S+)$/.exec(String(printed[8])) ?? [];
    const origin = await originOf(program);
    expect((await fetch(`${origin}${path}`)).status).toBe(200);
    const headers = { authorization: secret };
    expect((await fetch(`${origin}/internal/flags/api/admin/projects`, { headers })).status).toBe(200);
    await close(program);
    await run(evaluateInFile, mount);
    expect(printed).toHaveLength(13);
  });

  it('stops while a client streams', async () => {
    const { flags, server } = await run(evaluate, mount);
    if (!server) throw new Error('The program starts no server.');
    const url = `${await originOf({ flags, server })}/internal/flags`;
    await stopWhileStreaming({ flags, server }, { url, handlers });
  });
});

describe('the curl transcript of docs/http-api.md', () => {
  interface Call {
    readonly command: string;
    /** The response that the guide shows below the command. */
    readonly answer: string;
  }

  let flags: Flags;
  let server: Server;

  beforeAll(async () => {
    flags = await openFlags({ storage: memoryStorage() });
    server = createServer(express().use(createFlagsRouter(flags, { auth: 'token' })));
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });

  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    await flags.close();
  });

  it('shows the responses of the API', async () => {
    const { secret } = await flags.tokens.create({ name: 'admin', kind: 'admin' });
    const calls = transcript();
    expect(calls.length).toBeGreaterThan(3);
    let created = '';
    for (const { command, answer } of calls) {
      const received = await execute(command.replace('$TOKEN', secret).replace('$WEB', created));
      created = /"secret":"([^"]*)"/.exec(received)?.[1] ?? created;
      expect([command, comparable(received)]).toEqual([command, comparable(answer)]);
    }
  });

  function transcript(): Call[] {
    const [block = ''] = codeBlocks(read('docs/http-api.md'), 'console');
    return block
      .split(/^\$ /m)
      .slice(1)
      .map((entry) => {
        const [command = '', ...answer] = entry.split('\n');
        return { command, answer: answer.join('\n').trim() };
      });
  }

  /** Sends the request that curl would send. Supports the options that the transcript uses. */
  async function execute(command: string): Promise<string> {
    const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => {
      return double ?? single ?? bare ?? '';
    });
    const headers = new Headers();
    let method: string | undefined;
    let body: string | undefined;
    let url = '';
    expect(words.shift()).toBe('curl');
    for (let word = words.shift(); word !== undefined; word = words.shift()) {
      if (word === '-H') headers.set(...headerOf(words.shift() ?? ''));
      else if (word === '-X') method = words.shift();
      else if (word === '-d') body = words.shift();
      else url = word;
    }
    const { port } = server.address() as AddressInfo;
    const response = await fetch(url.replace(':4242', `:${port}`), {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers,
      ...(body !== undefined && { body }),
    });
    return response.text();
  }

  function headerOf(text: string): [string, string] {
    const colon = text.indexOf(':');
    return [text.slice(0, colon), text.slice(colon + 1).trim()];
  }

  /** Parses a response and replaces values that differ between runs by the placeholders of the guide. */
  function comparable(text: string): unknown {
    if (text === '') return text;
    return JSON.parse(
      text
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
        .replaceAll(/"id":"[^"]*"/g, '"id":"…"')
        .replaceAll(/"(message|secret)":"[^"]*"/g, '"$1":"…"'),
    );
  }
});

describe('the README of @flags/openfeature', () => {
  const readme = read('packages/openfeature/README.md');

  it('has code that runs unchanged, and prints the documented output', async () => {
    const printed: string[] = [];
    const console = { log: (value: unknown) => printed.push(inspect(value)) };
    const source = codeBlocks(readme, 'js').join('\n');
    await runProgram(source, { result: 'flags', scope: { console } });
    const promised = [...source.matchAll(/console\.log\(.*\/\/ → (.*)$/gm)].map(([, value]) => value);
    expect(promised.length).toBeGreaterThan(0);
    expect(printed).toEqual(promised);
  });
});

describe('READMEs of packages', () => {
  describe.each(['packages/core/README.md', 'packages/express/README.md'])('the code of %s', (path) => {
    it('runs unchanged', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'flags-readme-'));
      const code = codeBlocks(read(path), 'js').join('\n');
      const movable = code.replace("'./flags.db'", JSON.stringify(join(directory, 'flags.db')));
      const moved = movable.replace('listen(4242,', 'listen(0,');
      const result = `{ flags, server: typeof server === 'undefined' ? undefined : server }`;
      const scope = { process: processFor([]) };
      const { flags, server } = (await runProgram(moved, { result, scope })) as { flags: Flags; server?: Server };
      expect((await flags.listProjects()).items).toHaveLength(1);
      await flags.close();
      server?.close();
      await rm(directory, { recursive: true });
    });
  });
});

describe('programs', () => {
  interface Program {
    readonly flags: Flags;
    /** Only in documents that mount the router. */
    readonly server?: Server;
    readonly unsubscribe?: () => void;
  }

  const printed: string[] = [];
  const handlers: StopHandlers = [];
  const notes: string[] = [];
  let directory: string;
  let program: Program | undefined;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'flags-docs-'));
    printed.length = 0;
    handlers.length = 0;
    notes.length = 0;
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
    const scope = { console: { ...console, info: (text: string) => notes.push(text) }, process: processFor(handlers) };
    program = (await runProgram(movable, { result: `{ ${names.join(', ')} }`, scope })) as Program;
    return program;
  }

  async function addressOf({ server }: Program): Promise<string> {
    if (server === undefined) throw new Error('The document starts no server.');
    if (!server.listening) await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  describe.each(['README.md', 'site/index.md', 'docs/typed-api.md'])('the code of %s', (path) => {
    it('prints the values in its comments', async () => {
      const promised = [...programOf(path).matchAll(/console\.log\(.*\/\/ → (.*)$/gm)].map(([, value]) => value);
      expect(promised.length).toBeGreaterThan(0);
      await run(path);
      expect(printed).toEqual(promised);
    });
  });

  it('prints the same when README.md runs again', async () => {
    const first = await run('README.md');
    const before = printed.splice(0);
    first.server?.close();
    await first.flags.close();
    await run('README.md');
    expect(printed).toEqual(before);
  });

  it.each([
    ['README.md', '/internal/flags'],
    ['docs/http-api.md', ''],
    ['docs/more-services.md', ''],
    ['packages/express/README.md', '/internal/flags'],
    ['packages/http/README.md', ''],
  ])('stops the server of %s while a client streams', async (path, mount) => {
    const { flags, server } = await run(path);
    if (!server) throw new Error('The document starts no server.');
    const url = `${await addressOf({ flags, server })}${mount}`;
    await stopWhileStreaming({ flags, server }, { url, handlers });
  });

  describe.each([
    ['README.md', '/internal/flags'],
    ['docs/http-api.md', ''],
  ])('the router of %s', (path, mount) => {
    it('serves the admin API, which requires a token', async () => {
      const running = await run(path);
      const projects = `${await addressOf(running)}${mount}/api/admin/projects`;
      const { secret } = await running.flags.tokens.create({ name: 'reader', kind: 'admin' });
      expect((await fetch(projects)).status).toBe(401);
      expect((await fetch(projects, { headers: { authorization: secret } })).status).toBe(200);
    });
  });

  describe('the router of README.md', () => {
    it('comes with the page, and a token that is shown at the first start only', async () => {
      const first = await run('README.md');
      const [, path = '', secret = ''] = /4242(\S+) with the token (\S+)$/.exec(notes.join()) ?? [];
      const origin = await addressOf(first);
      expect((await fetch(`${origin}${path}`)).status).toBe(200);
      const projects = `${origin}/internal/flags/api/admin/projects`;
      expect((await fetch(projects, { headers: { authorization: secret } })).status).toBe(200);
      first.server?.close();
      first.server?.closeAllConnections();
      await first.flags.close();
      notes.length = 0;
      await run('README.md');
      expect(notes).toEqual([]);
    });
  });

  describe('docs/testing.md', () => {
    const program = codeBlocks(read('docs/testing.md'), 'ts').join('\n');
    const options = { result: 'flags', scope: { console: { log: () => undefined } } };

    it('runs, and asserts the change that it makes', async () => {
      await ((await runProgram(program, options)) as Flags).close();
      const unchanged = program.replace(/as\('ada'\)\s*\.disable\(/, "as('ada').enable(");
      expect(unchanged).not.toBe(program);
      await expect(runProgram(unchanged, options)).rejects.toThrow(/ada/);
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
});
