import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFlags, type Flags, memoryStorage } from '@flags/core';
import express from 'express';
import { createFlagsRouter } from '../../../express/src/index.js';
import { codeBlocks, read } from './documents.js';

interface Call {
  readonly command: string;
  /** The response that the guide shows below the command. */
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

describe('the curl transcript of docs/http-api.md', () => {
  it('shows the responses of the API', async () => {
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
      .replaceAll(/"message":"[^"]*"/g, '"message":"…"'),
  );
}
