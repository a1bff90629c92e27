import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';
import * as fc from 'fast-check';
import request from 'supertest';
import { until } from '../../../test/until.js';
import type { FlagsRouterOptions } from '../../express/src/index.js';
import { createAdmission } from '../src/api/admission.js';
import { ROUTER_LIMITS } from '../src/limits.js';
import { createBodyReader, type FlagsRequest, findExcess, readStream } from '../src/messages/request.js';
import { EXPRESS_VERSIONS, type ExpressVersion } from './express-versions.js';
import { createHostApp, FLAGS, type HostApp } from './host-app.js';

describe('connections', () => {
  const OWNER = '/api/admin/projects/default/users/1/roles/4';

  interface Connection {
    readonly socket: Socket;
    readonly host: HostApp;
    /** The latest request, as the host sees it. */
    readonly seen: { request?: Request; response?: Response };
  }

  interface ConnectionOptions {
    readonly version: ExpressVersion;
    readonly router?: FlagsRouterOptions;
  }

  async function withConnection(
    { version, router = { auth: 'none' } }: ConnectionOptions,
    work: (connection: Connection) => Promise<void>,
  ): Promise<void> {
    const seen: Connection['seen'] = {};
    const keep = (request: Request, response: Response, next: () => void) => {
      Object.assign(seen, { request, response });
      next();
    };
    const host = await createHostApp({ version, router, before: [keep] });
    const server = host.app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8');
    try {
      await once(socket, 'connect');
      await work({ socket, host, seen });
    } finally {
      socket.destroy();
      server.close();
      await once(server, 'close');
    }
  }

  function head(line: string, length: number, connection = 'keep-alive'): string {
    const headers = ['Host: localhost', 'Content-Type: application/json', `Content-Length: ${length}`];
    return [`${line} HTTP/1.1`, ...headers, `Connection: ${connection}`, '', ''].join('\r\n');
  }

  describe.each(EXPRESS_VERSIONS)('a connection, on Express $major', (version) => {
    it('accepts a body byte by byte', () =>
      withConnection({ version }, async ({ socket }) => {
        const text = '{"name":"checkout"}';
        socket.setNoDelay(true);
        socket.write(head(`POST ${FLAGS}`, text.length, 'close'));
        for (const byte of text) await new Promise((resolve) => socket.write(byte, resolve));
        expect((await socket.toArray()).join('')).toMatch(/^HTTP\/1\.1 201 /);
      }));

    it('causes a 400, not a fault, if it closes while its body is read', () =>
      withConnection({ version }, async ({ socket, host, seen }) => {
        socket.write(`${head(`POST ${FLAGS}`, 100)}{"name":`);
        await until(() => (seen.request?.readableFlowing ?? null) !== null);
        socket.destroy();

        await until(() => seen.response?.writableEnded);
        expect(seen.response?.statusCode).toBe(400);
        expect(host.faults).toEqual([]);
      }));

    it('changes nothing if it closes before its body is read', async () => {
      let letIn = () => {};
      const admitted = new Promise<void>((resolve) => {
        letIn = resolve;
      });
      const router = { auth: () => admitted.then(() => ({ name: 'Ada' })) };
      await withConnection({ version, router }, async ({ socket, host, seen }) => {
        socket.write(`${head(`POST ${OWNER}`, 100)}{`);
        await until(() => seen.request !== undefined);
        socket.destroy();
        await until(() => seen.request?.destroyed);
        letIn();

        await until(() => seen.response?.writableEnded);
        expect(seen.response?.statusCode).toBe(400);
        expect((await host.flags.listMembers({ project: 'default' })).items).toEqual([]);
        expect(host.faults).toEqual([]);
      });
    });

    it('serves the next request after a body that was not read', () =>
      withConnection({ version }, async ({ socket }) => {
        const body = 'x'.repeat(2_000_000);
        socket.write(`${head(`DELETE ${FLAGS}/unknown`, body.length)}${body}`);
        socket.write(head(`GET ${FLAGS}`, 0, 'close'));
        const answers = (await socket.toArray()).join('');
        expect([...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['404', '200']);
      }));
  });
});

describe('refused bodies', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

  describe.each(EXPRESS_VERSIONS)('a body that cannot be read, on Express $major', (version) => {
    const post = async (body: string | Buffer, headers: Readonly<Record<string, string>> = {}) => {
      const host = await createHostApp({ version });
      const attempt = request(host.app)
        .post(FLAGS)
        .set({ 'content-type': 'application/json', ...headers });
      attempt.write(body);
      const answer = await attempt;
      expect(host.faults).toEqual([]);
      expect((await host.flags.listFlags({ project: 'default' })).items.length).toBe(answer.status === 201 ? 1 : 0);
      return answer;
    };

    it.each<[string, string]>([
      ['malformed', '{"name":'],
      ['trailing garbage', '{"name":"checkout"}x'],
      ['single quotes', "{'name':'checkout'}"],
      ['blank', '   '],
      ['NaN', 'NaN'],
      ['nested a hundred levels', `{"name":"checkout","x":${nested(100)}}`],
      ['nested as deep as the limit lets it', nested(500_000)],
    ])('is refused with 400 when it is %s', async (_case, text) => {
      const { status, body } = await post(text);
      expect(status).toBe(400);
      expect(body).toMatchObject({ name: 'BadDataError', code: 'invalid_json' });
    });

    it.each(['null', '1', 'true', '"text"', '[]', '{}'])(
      'is refused with 400 when it is %s where an object is expected',
      async (text) => {
        const { status, body } = await post(text);
        expect(status).toBe(400);
        expect(body.name).toBe('ValidationError');
      },
    );

    it('is refused with 400 when its compression does not match the header', async () => {
      expect((await post('{"name":"checkout"}', { 'content-encoding': 'gzip' })).status).toBe(400);
    });

    it('is refused with 415 in an unknown encoding or charset', async () => {
      expect((await post('{}', { 'content-encoding': 'rot13' })).status).toBe(415);
      expect((await post('{}', { 'content-type': 'application/json; charset=klingon' })).status).toBe(415);
    });

    it('is read when it is compressed, has a byte order mark or is UTF-16', async () => {
      const text = '{"name":"checkout"}';
      expect((await post(gzipSync(text), { 'content-encoding': 'gzip' })).status).toBe(201);
      expect((await post(`\uFEFF${text}`)).status).toBe(201);
      const utf16 = { 'content-type': 'application/json; charset=utf-16le' };
      expect((await post(Buffer.from(text, 'utf16le'), utf16)).status).toBe(201);
    });
  });

  describe.each(EXPRESS_VERSIONS)('the limit of a body, on Express $major', (version) => {
    const sized = (bytes: number) =>
      JSON.stringify({ name: 'checkout', description: '' }).replace('""', `"${'x'.repeat(bytes)}"`);
    const overhead = sized(0).length;
    const limit = 1000;

    it.each<[string, 'raw' | 'text' | 'json' | undefined]>([
      ['the router', undefined],
      ['express.raw()', 'raw'],
      ['express.text()', 'text'],
      ['express.json()', 'json'],
    ])('applies when %s reads it', async (_case, parser) => {
      const before = parser === undefined ? [] : [version.express[parser]({ type: () => true, limit: '10mb' })];
      const { app, faults } = await createHostApp({ version, before, router: { auth: 'none', bodyLimit: limit } });
      const send = (bytes: number) =>
        request(app)
          .post(FLAGS)
          .set('content-type', 'application/json')
          .send(sized(bytes - overhead));

      const { body } = await send(limit + 1).expect(413);
      expect(body).toMatchObject({ name: 'PayloadTooLargeError', code: 'payload_too_large' });
      await send(limit).expect(201);
      expect(faults).toEqual([]);
    });

    it('applies without a content length, and after decompression', async () => {
      const { app } = await createHostApp({ version, router: { auth: 'none', bodyLimit: limit } });
      const chunked = request(app)
        .post(FLAGS)
        .set({ 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
      chunked.write(sized(5000));
      await chunked.expect(413);

      const compressed = request(app)
        .post(FLAGS)
        .set({ 'content-type': 'application/json', 'content-encoding': 'gzip' });
      compressed.write(gzipSync(sized(5000)));
      await compressed.expect(413);
    });

    it('is 1 MiB by default', async () => {
      const { app } = await createHostApp({ version });
      const send = (bytes: number) =>
        request(app).post(FLAGS).set('content-type', 'application/json').send(sized(0).padEnd(bytes));
      await send(1024 * 1024 + 1).expect(413);
      await send(1024 * 1024).expect(201);
    });
  });

  describe.each(EXPRESS_VERSIONS)('a body where none is needed, on Express $major', (version) => {
    it.each<[string, string, string]>([
      ['malformed', 'application/json', '{'],
      ['of another type', 'text/plain', 'hello'],
      ['too large', 'application/json', `"${'x'.repeat(3_000_000)}"`],
    ])('is ignored when it is %s', async (_case, type, text) => {
      const { app, flags } = await createHostApp({ version });
      const ref = { project: 'default', flag: 'checkout', environment: 'production' };
      await flags.createFlag(ref, { name: 'checkout' });
      await flags.addStrategy(ref, { name: 'default' });

      await request(app)
        .post(`${FLAGS}/checkout/environments/production/on`)
        .set('content-type', type)
        .send(text)
        .expect(200, '');
      await request(app).delete(`${FLAGS}/checkout`).set('content-type', type).send(text).expect(202, '');
      await request(app).get(FLAGS).set('content-type', type).send(text).expect(200);
    });
  });
});

describe('structure of bodies', () => {
  /** How many arrays, objects and members a value has, and how deep it is, computed from the value itself. */
  function measure(value: unknown): { readonly structure: number; readonly depth: number } {
    if (typeof value !== 'object' || value === null) return { structure: 0, depth: 0 };
    const inner = Object.values(value).map(measure);
    const members = Array.isArray(value) ? 0 : Object.keys(value).length;
    return {
      structure: inner.reduce((sum, { structure }) => sum + structure, 1 + members),
      depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    };
  }

  const list = (item: string, count: number) => `[${Array.from({ length: count }, () => item).join(',')}]`;

  describe('the structure of a body', () => {
    it('is counted outside of strings, whatever they contain', async () => {
      await fc.assert(
        fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 0, max: 2 }), (value, indent) => {
          const { structure, depth } = measure(value);
          const wrap = (levels: number) =>
            `${'['.repeat(levels)}${JSON.stringify(value, null, indent)}${']'.repeat(levels)}`;
          expect(findExcess(wrap(ROUTER_LIMITS.depth - depth))).toBeUndefined();
          expect(findExcess(wrap(ROUTER_LIMITS.depth - depth + 1))).toBe('depth');
          const beside = (count: number) => `[${JSON.stringify(value)},${list('[]', count)}]`;
          const room = ROUTER_LIMITS.structure - structure - 2;
          expect(findExcess(beside(room))).toBeUndefined();
          expect(findExcess(beside(room + 1))).toBe('structure');
        }),
        { numRuns: 50 },
      );
    });

    it.each(['"', '"\\', '"\\"', ':'.repeat(10), ']]]]', '"[[[['])(
      'is left to the parser if the body is not JSON: %s',
      (text) => {
        expect(findExcess(text)).toBeUndefined();
      },
    );

    it.each([
      ['empty objects', list('{}', 349_000)],
      ['empty arrays', list('[[]]', 200_000)],
      ['members', `{${Array.from({ length: 100_001 }, (_, index) => `"${index}":0`)}}`],
    ])('is limited: %s', async (_, text) => {
      const { app, faults } = await createHostApp();
      const { status, body } = await request(app).post(FLAGS).set('content-type', 'application/json').send(text);
      expect([status, body.code]).toEqual([413, 'payload_too_large']);
      expect(body.message).toBe('The body has more than 100000 arrays, objects and members. Send less.');
      expect(faults).toEqual([]);
    });
  });

  describe('the text of a body', () => {
    const MEBIBYTE = 1024 * 1024;

    /** Returns the body, and the turns of the event loop that started between its text and its value. */
    async function readIn(text: string): Promise<readonly [value: unknown, turns: number]> {
      let turns = 0;
      const count = () => {
        turns += 1;
        counting = setImmediate(count);
      };
      let counting = setImmediate(count);
      const read = async () => {
        turns = 0;
        return text;
      };
      const request = { hasBody: true, headers: {}, readBody: read } as unknown as FlagsRequest;
      try {
        return [await createBodyReader(MEBIBYTE)(request), turns];
      } finally {
        clearImmediate(counting);
      }
    }

    it('is parsed in a separate turn of the event loop if it is long', async () => {
      const long = 'x'.repeat(200_000);
      const [value, turns] = await readIn(JSON.stringify(long));
      expect([value === long, turns > 0]).toEqual([true, true]);
      expect(await readIn('{"short":true}')).toEqual([{ short: true }, 0]);
    });

    it('is refused if it is not JSON, whatever its length is', async () => {
      await expect(readIn(`"${'x'.repeat(200_000)}`)).rejects.toMatchObject({ code: 'invalid_json' });
      await expect(readIn('"')).rejects.toMatchObject({ code: 'invalid_json' });
    });
  });
});

describe('bodies over 64 KiB that arrive together', () => {
  const MEBIBYTE = 1024 * 1024;
  const JSON_OF = (length: number) => ({ 'content-type': 'application/json', 'content-length': `${length}` });

  /** A body of 1 MiB that a client sends piece by piece. */
  function sentBody(admission: ReturnType<typeof createAdmission>, headers = JSON_OF(MEBIBYTE), actor = 'ada') {
    const leaving = new AbortController();
    const source = new PassThrough({ highWaterMark: 16 * 1024 }).on('error', () => undefined);
    const stay = admission({ signal: leaving.signal }, actor);
    const text = readStream(source, headers, { limit: MEBIBYTE, meter: stay.meter }).then(
      ({ length }) => length,
      ({ code, message }) => code ?? message,
    );
    const isRead = () => source.readableLength === 0;
    const leave = () => {
      leaving.abort(new Error('left'));
      source.destroy();
    };
    return { source, stay, text, isRead, leave };
  }

  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  };

  it('are read while their total is at most 4 MiB; further bodies wait unread, in order', async () => {
    const admission = createAdmission();
    const sent = Array.from({ length: 6 }, () => sentBody(admission));
    for (const { source } of sent) source.write('x'.repeat(1000));
    await turns();
    expect(sent.filter(({ isRead }) => isRead())).toHaveLength(4);
    const [first, second] = sent;
    first?.source.end('x'.repeat(MEBIBYTE - 1000));
    expect(await first?.text).toBe(MEBIBYTE);
    await turns();
    expect(sent.filter(({ isRead }) => isRead())).toHaveLength(4);
    first?.stay.leave();
    await turns();
    expect(sent[4]?.isRead()).toBe(true);
    sent[5]?.leave();
    expect(await sent[5]?.text).toBe('left');
    second?.stay.leave();
    const short = sentBody(admission, JSON_OF(1000));
    short.source.end('x'.repeat(1000));
    expect(await short.text).toBe(1000);
  });

  it('are counted after 64 KiB if their length is unknown or they are compressed', async () => {
    const admission = createAdmission();
    const full = Array.from({ length: 4 }, () => sentBody(admission));
    await turns();
    const packed = sentBody(admission, { ...JSON_OF(2000), ...{ 'content-encoding': 'gzip' } });
    packed.source.end(gzipSync('x'.repeat(MEBIBYTE)));
    await turns();
    let isRead = false;
    void packed.text.then(() => {
      isRead = true;
    });
    await turns();
    expect(isRead).toBe(false);
    full[0]?.stay.leave();
    expect(await packed.text).toBe(MEBIBYTE);
  });

  it('are decoded in several turns of the event loop if many end in one', async () => {
    let turn = 0;
    const count = () => {
      turn++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const text = 'é'.repeat(MEBIBYTE / 2);
    const bodies = Array.from({ length: 40 }, () => {
      const source = new PassThrough();
      source.write(text.slice(0, 1000));
      source.end(text.slice(1000));
      return source;
    });
    try {
      const read = bodies.map(async (source) => {
        const body = await readStream(source, JSON_OF(MEBIBYTE), { limit: MEBIBYTE, meter: undefined });
        return [body === text, turn] as const;
      });
      const read40 = await Promise.all(read);
      expect(read40.every(([isWhole]) => isWhole)).toBe(true);
      expect(new Set(read40.map(([, at]) => at)).size).toBeGreaterThan(2);
    } finally {
      clearImmediate(counting);
    }
  });

  it('are aborted if less than 64 KiB arrive in 5 seconds while others wait', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const admission = createAdmission();
      const [slow, ...others] = Array.from({ length: 4 }, () => sentBody(admission));
      await turns();
      await jest.advanceTimersByTimeAsync(3_600_000);
      expect(slow?.source.destroyed).toBe(false);
      for (const { source } of others) source.write('x'.repeat(70_000));
      await turns();
      const waiting = sentBody(admission);
      waiting.source.end('x'.repeat(MEBIBYTE));
      await jest.advanceTimersByTimeAsync(1000);
      expect(await slow?.text).toBe('overloaded');
      expect(slow?.source.destroyed).toBe(true);
      slow?.stay.leave();
      expect(await waiting.text).toBe(MEBIBYTE);
      expect(others.every(({ source }) => !source.destroyed)).toBe(true);
    } finally {
      jest.useRealTimers();
    }
  });

  it('are refused with 503 if 12 of the actor wait already, or 64 in all', async () => {
    const admission = createAdmission();
    const send = (actor: string) => sentBody(admission, JSON_OF(MEBIBYTE), actor);
    const sent = Array.from({ length: 4 + 12 }, () => send('ada'));
    await turns();
    const refused = send('ada');
    refused.source.end();
    expect(await refused.text).toBe('overloaded');
    sent.push(...Array.from({ length: 64 - 12 }, (_, n) => send(`other ${n}`)));
    await turns();
    const last = send('grace');
    last.source.end();
    expect(await last.text).toBe('overloaded');
    for (const { stay, leave } of sent) {
      leave();
      stay.leave();
    }
  });

  it('that are half-sent do not block one of another actor for longer than 20 seconds', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const admission = createAdmission();
      const half = Array.from({ length: 300 }, () => sentBody(admission));
      for (const { source, text, stay } of half) {
        source.write('x'.repeat(100_000));
        void text.then(() => stay.leave());
      }
      await turns();
      const whole = sentBody(admission, JSON_OF(MEBIBYTE), 'grace');
      whole.source.end('x'.repeat(MEBIBYTE));
      let length: unknown;
      void whole.text.then((one) => {
        length = one;
      });
      for (let second = 0; second < 20 && length === undefined; second++) {
        await jest.advanceTimersByTimeAsync(1000);
        await turns();
      }
      expect(length).toBe(MEBIBYTE);
    } finally {
      jest.useRealTimers();
    }
  });
});
