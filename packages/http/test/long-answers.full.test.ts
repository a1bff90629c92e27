import { once } from 'node:events';
import http, { type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryStorage } from '@flags/core';
import request from 'supertest';
import { hasShortTurns } from '../../../test/processor-time.js';
import { writeToNode } from '../src/adapters/node.js';
import { collectPieces, jsonArray, jsonMap, jsonOf } from '../src/messages/json.js';
import { textReply, toFlagsReply } from '../src/messages/reply.js';
import { createHostApp, FLAGS } from './host-app.js';

async function textOf(chunks: AsyncIterable<string | Uint8Array> | string): Promise<string> {
  if (typeof chunks === 'string') return chunks;
  let text = '';
  for await (const chunk of chunks) text += chunk;
  return text;
}

describe('JSON in chunks', () => {
  it.each([
    [{ features: [], version: 1 }],
    [{ version: 1, features: [{ name: 'a' }, { name: '"\u2028' }], none: undefined, nothing: null }],
  ])('equals JSON.stringify for %j', async ({ features, ...others }) => {
    const whole = { ...others, features, last: true };
    expect(await textOf(jsonOf({ ...whole, features: jsonArray<unknown>(features) }))).toBe(JSON.stringify(whole));
  });

  it('has members of any name', async () => {
    const names = new Map(['__proto__', 'constructor', '"', 'a'].map((name, at) => [name, at]));
    const entries = [...names].map(([name, at]) => [name, [at]] as const);
    expect(await textOf(jsonMap(entries))).toBe('{"__proto__":[0],"constructor":[1],"\\"":[2],"a":[3]}');
    expect(jsonOf({})).toBe('{}');
  });

  it('joins short items and sends long ones separately', async () => {
    const pieces: string[] = [];
    for await (const piece of jsonArray(Array(10_000).keys())) pieces.push(piece);
    expect(pieces.length).toBeLessThan(10);
    expect(JSON.parse(pieces.join(''))).toHaveLength(10_000);
  });
});

describe('a buffered long text', () => {
  const LONGEST = 4 * 1024 * 1024;
  /** In MiB. */
  const SLICE = 1 / 16;

  async function* slices(count: number) {
    for (let number = 0; number < count; number++) yield 'x'.repeat(1024 * 1024);
  }

  it('is complete up to the limit', async () => {
    expect(await collectPieces(slices(4), LONGEST)).toHaveLength(LONGEST);
  });

  it('is streamed when it is longer', async () => {
    const started = await collectPieces(slices(6), LONGEST);
    if (typeof started === 'string') throw new Error('whole');
    const beginning = started.first.join('').length;
    const lengths = [beginning, beginning + (await textOf(started.rest)).length];
    expect(lengths.map((length) => length / 1024 / 1024)).toEqual([4 + SLICE, 6]);
  });

  it('fails with its chunks', async () => {
    async function* failing() {
      yield* slices(2);
      throw new Error('gone');
    }
    await expect(collectPieces(failing(), LONGEST)).rejects.toThrow('gone');
  });
});

/** A server of one long answer, and the state of its pieces. */
async function serve(pieces: (made: number) => string | undefined) {
  const state = { made: 0, ended: false, error: undefined as unknown };
  async function* chunks() {
    try {
      for (let piece = pieces(state.made); piece !== undefined; piece = pieces(state.made)) {
        state.made += 1;
        yield piece;
      }
    } finally {
      state.ended = true;
    }
  }
  const server = http.createServer(async (_request, response) => {
    const body = await collectPieces(chunks(), 1024 * 1024);
    if (typeof body === 'string') throw new Error('short');
    const onLateError = (error: unknown) => {
      state.error = error;
    };
    const context = { request: { method: 'GET' }, headers: {}, onLateError };
    await writeToNode(response, toFlagsReply(textReply({ status: 200, headers: {}, body }), context));
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function get(url: string): Promise<IncomingMessage> {
  const [response] = await once(http.get(url), 'response');
  return response;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

describe('a long answer', () => {
  const PIECE = 'x'.repeat(64 * 1024);

  it('is generated at the pace of the client', async () => {
    const { state, url } = await serve((made) => (made < 1000 ? PIECE : undefined));
    const response = await get(url);
    let before = -1;
    // The buffers of the system fill first; then nothing more is generated.
    while (before !== state.made) {
      before = state.made;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(state.made).toBeLessThan(900);
    let length = 0;
    for await (const part of response) length += part.length;
    expect(length).toBe(1000 * PIECE.length);
  });

  it('is aborted when the client disconnects', async () => {
    const { state, url } = await serve(() => PIECE);
    const response = await get(url);
    response.destroy();
    await until(() => state.ended);
    expect(state.error).toBeUndefined();
  });

  it('closes the connection when the rest cannot be generated', async () => {
    const fault = new Error('lost');
    const { state, url } = await serve((made) => {
      if (made === 100) throw fault;
      return PIECE;
    });
    const response = await get(url);
    await expect(
      (async () => {
        for await (const _part of response);
      })(),
    ).rejects.toThrow('aborted');
    expect(state).toMatchObject({ error: fault, ended: true });
  });

  it('yields to the event loop between its slices', async () => {
    // Each attempt has an answer of its own.
    const readAll = async () => {
      const { url } = await serve((made) => {
        for (const end = performance.now() + 2; performance.now() < end; );
        return made < 300 ? 'x'.repeat(16 * 1024) : undefined;
      });
      for await (const _part of await get(url));
    };
    expect(await hasShortTurns(300, readAll)).toBe(true);
  });
});

describe('a list longer than 1 MiB', () => {
  async function createLongList() {
    const { app, flags } = await createHostApp({ flags: { storage: memoryStorage() } });
    const values = Array.from({ length: 20_000 }, (_, at) => `${at}`.padStart(30, '0'));
    for (const name of ['one', 'other']) {
      await flags.segments.create({ name, constraints: [{ contextName: 'userId', operator: 'IN', values }] });
    }
    return { app, flags };
  }
  const path = '/api/admin/segments';

  it('is complete, with neither a content length nor a tag', async () => {
    const { app } = await createLongList();
    const { headers, body } = await request(app).get(path).expect(200);
    expect(headers['content-length']).toBeUndefined();
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(body.segments[1].constraints[0].values).toHaveLength(20_000);
    expect(headers).not.toHaveProperty('etag');
  });

  /** Requests the overview of 12,000 flags ten times at once. Returns the pass of the event loop of each read. */
  async function readsOfTen(nameLength: number) {
    const storage = memoryStorage();
    const summary = {
      type: 'release',
      stale: false,
      archived: false,
      createdAt: '2026-01-01T00:00:00.000Z',
      enabledIn: [],
      segments: [],
      parents: [],
    };
    const empty = { description: '', impressionData: false, labels: [], owner: null, variants: [], dependencies: [] };
    const writes = Array.from({ length: 12_000 }, (_, at) => {
      const key = { kind: 'flag', id: `flag-${at}-${'x'.repeat(nameLength)}` };
      return {
        key,
        expected: 0,
        parent: 'default',
        body: { ...summary, ...empty, name: key.id, project: 'default', environments: [] },
        summary,
      };
    });
    await storage.commit({ writes, events: [] });
    const reads: number[] = [];
    let pass = 0;
    const readDocument: typeof storage.get = (key) => {
      reads.push(pass);
      return storage.get(key);
    };
    const { app } = await createHostApp({ flags: { storage: { ...storage, get: readDocument } } });
    const server = app.listen(0);
    servers.push(server);
    reads.length = 0;
    let isOver = false;
    const nextPass = () => {
      pass += 1;
      if (!isOver) setImmediate(nextPass);
    };
    nextPass();
    const asked = Array.from({ length: 10 }, () => request(server).get('/api/admin/projects/default').expect(200));
    const lengths = (await Promise.all(asked)).map(({ text }) => text.length);
    isOver = true;
    return { reads, shortest: Math.min(...lengths) };
  }

  it('is read by two callers at a time, in different passes of the event loop', async () => {
    const { reads, shortest } = await readsOfTen(80);
    expect(shortest).toBeGreaterThan(1024 * 1024);
    expect(reads.length).toBeGreaterThanOrEqual(10);
    expect(reads.filter((one, at) => one === reads[at - 2])).toEqual([]);
  });

  it('has an ETag of its content while it is short', async () => {
    const { app, flags } = await createHostApp();
    const { headers } = await request(app).get(path).expect(200);
    expect(headers['content-length']).toBe('15');
    await flags.createFlag({ project: 'default' }, { name: 'another' });
    await request(app)
      .get(path)
      .set('If-None-Match', headers.etag ?? '')
      .expect(304);
    expect((await request(app).get(FLAGS)).headers['content-length']).toBeDefined();
  });
});
