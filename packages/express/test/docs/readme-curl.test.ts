import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFlags, type Flags, memoryStorage } from '@flags/core';
import { createFlagsRouter } from '@flags/express';
import express from 'express';
import { codeBlocks, read } from './documents.js';

interface Call {
  readonly command: string;
  /** What the README shows below it. */
  readonly answer: string;
}

let flags: Flags;
let server: Server;

beforeAll(async () => {
  flags = await createFlags({ storage: memoryStorage() });
  server = createServer(express().use(createFlagsRouter(flags, { auth: 'token' })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await flags.close();
});

describe("the README's transcript", () => {
  it('is what the API answers', async () => {
    const { secret } = await flags.createToken({ name: 'admin', kind: 'admin' });
    const calls = transcript();
    expect(calls.length).toBeGreaterThan(3);
    for (const { command, answer } of calls) {
      const received = await execute(command.replace('$TOKEN', secret));
      expect([command, comparable(received)]).toEqual([command, comparable(answer)]);
    }
  });
});

function transcript(): Call[] {
  const [block = ''] = codeBlocks(read('README.md'), 'console');
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((entry) => {
      const [command = '', ...answer] = entry.split('\n');
      return { command, answer: answer.join('\n').trim() };
    });
}

/** Does what curl would: of its options, those that the transcript uses. */
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

/** Parsed, with what differs from run to run replaced by what the README has in its place. */
function comparable(text: string): unknown {
  if (text === '') return text;
  return JSON.parse(
    text
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replaceAll(/"id":"[^"]*"/g, '"id":"…"')
      .replaceAll(/"message":"[^"]*"/g, '"message":"…"'),
  );
}
