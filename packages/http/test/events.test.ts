import { connect } from 'node:net';
import { EVENT_TYPES, memoryStorage, openFlags } from '@flags/core';
import { eventTypeToWire } from '@flags/core/integration/http';
import request from 'supertest';
import { until } from '../../../test/until.js';
import { eventTypeFromWire, WIRE_EVENT_TYPES } from '../src/events/event-schema.js';
import { type EventClient, listen } from './client/event-client.js';
import { type LiveServer, startLiveServer } from './client/live-server.js';
import { manualHeartbeats } from './client/manual-heartbeats.js';
import { EXPRESS_VERSIONS } from './express-versions.js';
import { createHostApp } from './host-app.js';

describe('the event stream', () => {
  const DEFAULT = { project: 'default' };
  const heartbeats = manualHeartbeats();

  let server: LiveServer;
  const clients: EventClient[] = [];

  async function start(options: Parameters<typeof startLiveServer>[0] = {}) {
    server = await startLiveServer(options);
    return server.flags;
  }

  async function join(headers: Readonly<Record<string, string>> = {}): Promise<EventClient> {
    const client = await listen(`${server.url}/api/admin/event-stream`, headers);
    clients.push(client);
    await until(() => client.heartbeats() > 0 || client.status !== 200);
    return client;
  }

  const namesIn = ({ messages }: EventClient) => messages.map(({ data }) => data?.featureName ?? data?.type);

  async function received(client: EventClient, count: number): Promise<void> {
    await until(() => client.messages.length >= count || client.hasEnded());
  }

  afterEach(async () => {
    for (const client of clients.splice(0)) client.leave();
    await server.stop();
  });

  describe.each(EXPRESS_VERSIONS)('the event stream, on Express $major', (version) => {
    it('sends every event of the log, and continues after the last one', async () => {
      const flags = await start({ version });
      await flags.createFlag(DEFAULT, { name: 'before' });
      const client = await join();
      expect(client.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
      await flags.createFlag(DEFAULT, { name: 'first' });
      await flags.createFlag(DEFAULT, { name: 'second' });
      await received(client, 2);
      const listed = (await (await fetch(`${server.url}/api/admin/events?limit=2`)).json()) as { events: unknown[] };
      expect(client.messages.map(({ data }) => data)).toEqual(listed.events.toReversed());
      const { items: events } = await flags.events.list({ limit: 2 });
      expect(client.messages.map(({ id }) => id)).toEqual(events.map(({ position }) => position).toReversed());

      client.leave();
      await flags.createFlag(DEFAULT, { name: 'third' });
      const again = await join({ 'last-event-id': client.messages[0]?.id ?? '' });
      await received(again, 2);
      expect(namesIn(again)).toEqual(['second', 'third']);
    });
  });

  describe('the event stream', () => {
    it('sends events of another process on the same storage', async () => {
      const storage = memoryStorage();
      await start({ flags: { storage, pollInterval: 5 } });
      const other = await openFlags({ storage, pollInterval: 0 });
      const client = await join();
      await other.createFlag(DEFAULT, { name: 'checkout' });
      await received(client, 1);
      expect(namesIn(client)).toEqual(['checkout']);
    });

    it('refuses a position above the log, and starts at the current end with an empty one', async () => {
      const flags = await start();
      await flags.createFlag(DEFAULT, { name: 'first' });
      const [newest] = (await flags.events.list({ limit: 1 })).items;
      const beyond = `${Number(newest?.position) + 1}`;
      expect((await join({ 'last-event-id': beyond })).status).toBe(400);
      const resumed = await join({ 'last-event-id': newest?.position ?? '' });
      const fresh = await join({ 'last-event-id': '' });
      await flags.createFlag(DEFAULT, { name: 'second' });
      await received(resumed, 1);
      await received(fresh, 1);
      expect([resumed, fresh].map(namesIn)).toEqual([['second'], ['second']]);
    });

    it('sends only events that the caller may list, and refuses callers without the permission', async () => {
      const auth = (req: { get(name: string): string | undefined }) => ({ name: req.get('x-user') ?? 'nobody' });
      const authorize = ({ name }: { name: string }, action: string, project: string | null) =>
        action === 'listEvents' && (name === 'root' || project === name);
      const flags = await start({ router: { auth, authorize } as never });
      await flags.createProject({ id: 'shop', name: 'Shop' });
      const shop = await join({ 'x-user': 'shop' });
      const root = await join({ 'x-user': 'root' });
      expect((await join({ 'x-user': 'stranger' })).status).toBe(403);
      await flags.createFlag(DEFAULT, { name: 'hidden' });
      await flags.segments.create({ name: 'everywhere', constraints: [] });
      await flags.createFlag({ project: 'shop' }, { name: 'shown' });
      await received(shop, 1);
      await received(root, 3);
      expect(namesIn(shop)).toEqual(['shown']);
      expect(namesIn(root)).toEqual(['hidden', 'segment-created', 'shown']);
    });

    it('sends an event only to callers who may read all its projects', async () => {
      const auth = (req: { get(name: string): string | undefined }) => ({ name: req.get('x-user') ?? 'nobody' });
      const authorize = ({ name }: { name: string }, _action: string, project: string | null) =>
        name === 'root' || project === name;
      const flags = await start({ router: { auth, authorize } as never });
      for (const id of ['shop', 'hidden']) await flags.createProject({ id, name: id });
      const [shop, hidden, root] = [
        await join({ 'x-user': 'shop' }),
        await join({ 'x-user': 'hidden' }),
        await join({ 'x-user': 'root' }),
      ];
      await flags.createFlag({ project: 'hidden' }, { name: 'moved' });
      const constraints = [{ contextName: 'userId', operator: 'IN', values: ['secret'] } as const];
      const { id: segment } = await flags.segments.create({ name: 'own', project: 'hidden', constraints });
      await flags.segments.update({ segment }, { name: 'own', project: 'shop', constraints: [] });
      const reason = 'Secret plans';
      const moving = await flags.apply(
        [{ op: 'moveFlag', ref: { project: 'hidden', flag: 'moved' }, input: { project: 'shop' } }],
        { reason },
      );
      const update = (project: string, flag: string) =>
        ({ op: 'updateFlag', ref: { project, flag }, input: { description: 'New' } }) as const;
      await flags.createFlag({ project: 'hidden' }, { name: 'other' });
      await flags.apply([update('shop', 'moved'), update('hidden', 'other')], { reason });
      await flags.apply([update('shop', 'moved'), { op: 'archiveFlag', ref: { project: 'shop', flag: 'moved' } }], {
        reason: 'Of the shop alone',
      });

      const shown = (client: EventClient) => client.messages.map(({ data }) => [data.type, data.reason]);
      await until(() => shown(shop).length >= 2);
      expect(shown(shop)).toEqual([
        ['feature-metadata-updated', null],
        ['feature-archived', 'Of the shop alone'],
      ]);
      expect(JSON.stringify(shop.messages)).not.toMatch(/secret|hidden/i);
      await received(root, 8);
      const position = root.messages.find(({ data }) => data.changeSet === moving.id)?.id ?? '';
      expect(shown(root)).toContainEqual(['feature-project-change', reason]);
      const resumed = await join({ 'x-user': 'shop', 'last-event-id': `${Number(position) - 1}` });
      await received(resumed, 2);
      expect(shown(resumed)).toEqual(shown(shop));
      await received(hidden, 4);
      expect(hidden.messages.map(({ data }) => data.project)).toEqual(['hidden', 'hidden', 'hidden', 'hidden']);
    });

    it('ends when the token expires or is deleted, before the next event', async () => {
      let now = new Date('2026-01-01T10:00:00Z');
      const flags = await start({ router: { auth: 'token' }, flags: { now: () => now } });
      const short = await flags.tokens.create({ name: 'a', kind: 'admin', expiresAt: '2026-01-01T11:00:00Z' });
      const doomed = await flags.tokens.create({ name: 'b', kind: 'admin' });
      const lasting = await flags.tokens.create({ name: 'c', kind: 'admin' });
      const [first, second, third] = await Promise.all(
        [short, doomed, lasting].map(({ secret }) => join({ authorization: secret })),
      );
      now = new Date('2026-01-01T12:00:00Z');
      await flags.tokens.delete({ token: doomed.token.id });
      await until(() => first?.hasEnded() && second?.hasEnded());
      expect([first?.messages, second?.messages]).toEqual([[], []]);
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await received(third as EventClient, 2);
      expect(third?.hasEnded()).toBe(false);
    });

    it('sends heartbeats, and ends at the next one when a session ends', async () => {
      let user: { name: string } | null = { name: 'Ada' };
      await start({ router: { auth: () => user, heartbeatInterval: heartbeats.interval } });
      const client = await join();
      heartbeats.beat();
      await until(() => client.heartbeats() > 1);
      user = null;
      heartbeats.beat();
      await until(client.hasEnded);
    });

    it('withdraws a permission at once, and ends a stream whose authorize throws', async () => {
      let answer: () => boolean = () => true;
      const faults: unknown[] = [];
      const flags = await start({
        router: { auth: () => ({ name: 'Ada' }), authorize: () => answer() },
        onError: (error) => faults.push(error),
      });
      const client = await join();
      answer = () => false;
      await flags.createFlag(DEFAULT, { name: 'hidden' });
      await flags.createFlag(DEFAULT, { name: 'also-hidden' });
      answer = () => {
        throw new Error('no database');
      };
      await flags.createFlag(DEFAULT, { name: 'unknown' });
      await until(client.hasEnded);
      expect(client.messages).toEqual([]);
      expect(String(faults[0])).toContain('no database');
    });

    it('ends with the router, and with the flags', async () => {
      const flags = await start();
      const first = await join();
      server.router.close();
      await until(first.hasEnded);
      expect((await join()).status).toBe(503);
      await flags.close();
    });

    it('does not buffer for a client that does not read, and does not delay other clients', async () => {
      const flags = await start({ router: { auth: 'none', heartbeatInterval: heartbeats.interval } });
      const socket = connect(server.port, '127.0.0.1');
      socket.pause();
      socket.write('GET /api/admin/event-stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
      const client = await join();
      await flags.createFlag(DEFAULT, { name: 'large' });
      for (let round = 0; round < 12; round++) {
        const payload = { type: 'string', value: `${round}`.padEnd(225_000, 'x') } as const;
        await flags.setVariants(
          { ...DEFAULT, flag: 'large' },
          [...'abcd'].map((name) => ({ name, payload })),
        );
      }
      await received(client, 13);
      expect(client.messages).toHaveLength(13);
      // Fewer than the events fit into the buffers of the connection: the rest was never generated.
      let ended = false;
      socket.on('close', () => {
        ended = true;
      });
      socket.on('error', () => undefined);
      for (let missed = 0; missed < 6; missed++) heartbeats.beat();
      socket.resume();
      await until(() => ended);
      expect(socket.bytesRead).toBeLessThan(20_000_000);
    });
  });
});

describe('events on the wire', () => {
  describe('the event log on the wire', () => {
    it('has a unique name for every type', () => {
      expect(EVENT_TYPES.map((type) => eventTypeFromWire(eventTypeToWire(type)))).toEqual(EVENT_TYPES);
      expect(new Set(WIRE_EVENT_TYPES).size).toBe(EVENT_TYPES.length);
    });

    it('shows every constraint with values, in events and in the playground, as in strategies', async () => {
      const { app, flags } = await createHostApp();
      const ref = { project: 'default', flag: 'checkout', environment: 'production' };
      await flags.createFlag(ref, { name: 'checkout' });
      const constraint = { contextName: 'age', operator: 'NUM_GT', value: '18' } as const;
      await flags.addStrategy(ref, { name: 'default', constraints: [constraint] });
      await flags.enable(ref);
      const { body: log } = await request(app).get('/api/admin/events/checkout?limit=2').expect(200);
      expect(log.events[1].data.constraints).toEqual([{ ...constraint, values: [] }]);
      const question = { environment: 'production', flag: 'checkout', context: {} };
      const { body: playground } = await request(app).post('/api/admin/playground').send(question).expect(200);
      expect(playground.features[0].strategies[0].constraints[0].constraint).toEqual({ ...constraint, values: [] });
    });

    it('lists events, newest first, with wire names', async () => {
      const { app, flags } = await createHostApp({ flags: { now: () => new Date('2026-01-01T10:00:00Z') } });
      const ada = flags.as('Ada');
      const ref = { project: 'default', flag: 'checkout', environment: 'production' };
      await ada.createFlag(ref, { name: 'checkout' });
      const strategy = await ada.addStrategy(ref, { name: 'default' });
      await ada.enable(ref);

      const { body } = await request(app).get('/api/admin/events/checkout?limit=2').expect(200);
      expect(body).toEqual({
        version: 1,
        totalEvents: 3,
        events: [
          {
            id: expect.any(Number),
            type: 'feature-environment-enabled',
            createdAt: '2026-01-01T10:00:00.000Z',
            createdBy: 'Ada',
            createdByTokenId: null,
            createdByTokenType: null,
            origin: null,
            changeSet: expect.any(String),
            reason: null,
            project: 'default',
            featureName: 'checkout',
            environment: 'production',
            data: { enabled: true },
            preData: { enabled: false },
          },
          {
            id: expect.any(Number),
            type: 'feature-strategy-add',
            createdAt: '2026-01-01T10:00:00.000Z',
            createdBy: 'Ada',
            createdByTokenId: null,
            createdByTokenType: null,
            origin: null,
            changeSet: expect.any(String),
            reason: null,
            project: 'default',
            featureName: 'checkout',
            environment: 'production',
            data: strategy,
            preData: null,
          },
        ],
      });
    });

    it('contains the whole flag before and after a change of its metadata', async () => {
      const { app, flags } = await createHostApp({ flags: { now: () => new Date('2026-01-01T10:00:00Z') } });
      const ref = { project: 'default', flag: 'checkout', environment: 'production' };
      await flags.createFlag(ref, { name: 'checkout', description: 'old' });
      await flags.addStrategy(ref, { name: 'default' });
      const { body: before } = await request(app).get('/api/admin/projects/default/features/checkout').expect(200);
      const { environments: _environments, ...preData } = before;
      const put = request(app).put('/api/admin/projects/default/features/checkout');
      const { body: data } = await put.send({ name: 'checkout', description: 'new' }).expect(200);
      const { body } = await request(app).get('/api/admin/events?type=feature-metadata-updated').expect(200);
      expect(body.events).toMatchObject([{ type: 'feature-metadata-updated' }]);
      expect([body.events[0].data, body.events[0].preData]).toEqual([data, preData]);
    });

    it('contains the whole flag after an undo of its metadata', async () => {
      const { app, flags } = await createHostApp();
      const ref = { project: 'default', flag: 'checkout' };
      await flags.createFlag(ref, { name: 'checkout' });
      const { body: checkout } = await request(app).get('/api/admin/projects/default/features/checkout').expect(200);
      const { id } = await flags.apply([{ op: 'updateFlag', ref, input: { description: 'new' } }]);
      await flags.history.undo({ changeSet: `${id}` });
      const { body } = await request(app).get('/api/admin/events?type=feature-metadata-updated').expect(200);
      const { environments: _environments, ...whole } = checkout;
      const changed = { ...whole, description: 'new' };
      expect(body.events).toMatchObject([
        { data: whole, preData: changed },
        { data: changed, preData: whole },
      ]);
      expect(Object.keys(body.events[0].data)).toEqual(Object.keys(whole));
    });

    it('is filtered by type, project and time, and paged', async () => {
      let now = new Date('2026-01-01T10:00:00Z');
      const { app, flags } = await createHostApp({ flags: { now: () => now } });
      await flags.createProject({ id: 'shop', name: 'Shop' });
      now = new Date('2026-01-02T10:00:00Z');
      await flags.createFlag({ project: 'shop' }, { name: 'checkout' });
      await flags.createFlag({ project: 'default' }, { name: 'comments' });
      const found = async (query: string) => {
        const { body } = await request(app).get(`/api/admin/events?${query}`).expect(200);
        return [
          body.totalEvents,
          ...body.events.map((event: { type: string; project: string }) => `${event.type} ${event.project}`),
        ];
      };
      expect(await found('type=feature-created')).toEqual([2, 'feature-created default', 'feature-created shop']);
      expect(await found('type=feature-created&limit=1&offset=1')).toEqual([2, 'feature-created shop']);
      expect(await found('project=shop')).toEqual([2, 'feature-created shop', 'project-created shop']);
      expect(await found('project=shop&to=2026-01-01T10:00:00Z')).toEqual([1, 'project-created shop']);
      expect(await found('from=2026-01-02T10:00:00.000Z&limit=0')).toEqual([2]);
      expect(await found('type=project-user-added')).toEqual([0]);
      expect(await found('project=constructor')).toEqual([0]);
    });

    it('calls the parent of a dependency feature everywhere', async () => {
      const { app, flags } = await createHostApp();
      const checkout = { project: 'default', flag: 'checkout' };
      for (const name of ['checkout', 'payments']) await flags.createFlag(checkout, { name });
      await flags.addDependency(checkout, { flag: 'payments' });
      await flags.addDependency(checkout, { flag: 'payments', enabled: false });
      await flags.cloneFlag(checkout, { name: 'copy' });
      await flags.removeDependencies(checkout);
      const { body } = await request(app).get('/api/admin/events?limit=4').expect(200);
      const on = { feature: 'payments', enabled: true, variants: [] };
      const off = { ...on, enabled: false };
      expect(body.events).toMatchObject([
        { type: 'feature-dependency-removed', featureName: 'checkout', data: null, preData: off },
        { type: 'feature-created', featureName: 'copy', data: { dependencies: [off] }, preData: null },
        { type: 'feature-dependency-updated', featureName: 'checkout', data: off, preData: on },
        { type: 'feature-dependency-added', featureName: 'checkout', data: on, preData: null },
      ]);
    });

    it('contains tokens without secret or hash', async () => {
      const { app, flags } = await createHostApp();
      const { token, secret } = await flags.tokens.create({ name: 'ops', kind: 'admin' });
      const { text, body } = await request(app).get('/api/admin/events?type=api-token-created').expect(200);
      expect(body.events).toMatchObject([{ data: { id: token.id, tokenName: 'ops', type: 'admin' }, preData: null }]);
      expect(text).not.toContain(secret);
      expect(text).not.toContain('hash');
    });
  });

  describe('a page of large events', () => {
    const MIB = 1024 * 1024;

    it('ends at 1 MiB, with a link to the next one, until the end', async () => {
      const { app, flags } = await createHostApp();
      const names = Array.from({ length: 20 }, (_, index) => `flag-${index}`);
      for (const name of names) {
        await flags.createFlag({ project: 'default' }, { name });
        const payload = { type: 'string', value: 'ü'.repeat(150_000) } as const;
        await flags.setVariants({ project: 'default', flag: name }, [{ name: 'large', payload }]);
      }
      const seen: string[] = [];
      let pages = 0;
      for (
        let path: string | undefined = '/api/admin/events?limit=1000&type=feature-variants-updated';
        path !== undefined;
      ) {
        const { text, body, headers } = await request(app).get(path).expect(200);
        expect(Buffer.byteLength(text)).toBeLessThan(MIB);
        expect(body.totalEvents).toBe(20);
        seen.push(...body.events.map(({ featureName }: { featureName: string }) => featureName));
        pages += 1;
        path = nextIn(headers.link, path);
      }
      expect(seen).toEqual(names.toReversed());
      expect(pages).toBe(7);
    });

    it('has at least one event', async () => {
      const { app, flags } = await createHostApp();
      const ref = { project: 'default', flag: 'checkout' };
      await flags.createFlag(ref, { name: 'checkout' });
      for (const letter of 'xy') {
        const payload = { type: 'string', value: letter.repeat(233_000) } as const;
        await flags.setVariants(
          ref,
          [...'abc'].map((name) => ({ name, payload })),
        );
      }
      const { body, headers } = await request(app).get('/api/admin/events/checkout').expect(200);
      expect(body.events).toHaveLength(1);
      expect(headers.link).toBe('<?offset=1>; rel="next"');
      // The page exceeds 1 MiB.
      expect(headers).not.toHaveProperty('etag');
      const last = await request(app).get('/api/admin/events/checkout?offset=1').expect(200);
      expect([last.body.events.length, last.headers.link]).toEqual([2, undefined]);
    });

    it('starts at the offset, and is refused with the issue of an invalid one', async () => {
      const { app, flags } = await createHostApp();
      for (const name of ['a', 'b', 'c']) await flags.createFlag({ project: 'default' }, { name });
      const { headers } = await request(app).get('/api/admin/events?limit=1&offset=1&type=feature-created').expect(200);
      expect(headers.link).toBe('<?limit=1&offset=2&type=feature-created>; rel="next"');
      await request(app).get('/api/admin/events?limit=0').expect(200);
      for (const query of ['limit=1001', 'limit=-1', 'limit=x', 'offset=-1', 'offset=1.5', 'limit=1&limit=2']) {
        const { body } = await request(app).get(`/api/admin/events?${query}`).expect(400);
        expect(body.code).toBe('invalid_input');
      }
    });
  });

  function nextIn(link: string | undefined, asked: string): string | undefined {
    const target = /<(.+)>; rel="next"/.exec(link ?? '')?.[1];
    if (target === undefined) return undefined;
    const { pathname, search } = new URL(target, `http://localhost${asked}`);
    return `${pathname}${search}`;
  }
});
