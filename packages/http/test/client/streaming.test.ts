import { connect } from 'node:net';
import { promisify } from 'node:util';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import type { Request } from 'express';
import { until } from '../../../../test/until.js';
import { updateFrame } from '../../src/client/frames.js';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { type EventClient, listen } from './event-client.js';
import { type LiveServer, startLiveServer } from './live-server.js';
import { createOn } from './states.js';

describe('streams', () => {
  const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };
  const CONSTRAINT = { contextName: 'userId', operator: 'IN', values: ['7'] } as const;

  let server: LiveServer;
  let stream: string;
  const clients: EventClient[] = [];

  async function start(options: Parameters<typeof startLiveServer>[0] = {}): Promise<Flags> {
    server = await startLiveServer(options);
    stream = `${server.url}/api/client/streaming`;
    return server.flags;
  }

  async function join(headers: Readonly<Record<string, string>> = {}, query = ''): Promise<EventClient> {
    const client = await listen(`${stream}${query}`, headers);
    clients.push(client);
    return client;
  }

  async function received(client: EventClient, count: number): Promise<void> {
    await until(() => client.messages.length >= count || client.hasEnded());
  }

  afterEach(async () => {
    for (const client of clients.splice(0)) client.leave();
    await server.stop();
  });

  describe.each(EXPRESS_VERSIONS)('a stream, on Express $major', (version) => {
    it('starts with all flags, then sends each change after its commit', async () => {
      const flags = await start({ version });
      await createOn(flags, { name: 'checkout' });
      const client = await join();
      await received(client, 1);
      expect(client.status).toBe(200);
      expect(client.headers).toMatchObject({
        'content-type': 'text/event-stream',
        'cache-control': 'private, no-cache, no-transform',
      });
      expect(client.messages).toMatchObject([
        {
          event: 'unleash-connected',
          events: [{ type: 'hydration', eventId: 1, features: [{ name: 'checkout', enabled: true }], segments: [] }],
        },
      ]);

      await flags.disable(PRODUCTION);
      await received(client, 2);
      expect(client.messages[1]).toMatchObject({
        event: 'unleash-updated',
        events: [{ type: 'feature-updated', eventId: 2, feature: { name: 'checkout', enabled: false } }],
      });

      await flags.archiveFlag(PRODUCTION);
      await received(client, 3);
      expect(client.messages[2]?.events).toEqual([
        { type: 'feature-removed', eventId: 3, featureName: 'checkout', project: 'default' },
      ]);
    });
  });

  describe('a stream', () => {
    it('sends a segment before the flag that uses it, then its changes and its removal', async () => {
      const flags = await start();
      await createOn(flags, { name: 'checkout' });
      const { id } = await flags.segments.create({ name: 'beta', constraints: [CONSTRAINT] });
      const client = await join();
      await received(client, 1);
      expect(client.messages[0]?.events[0].segments).toEqual([]);

      const strategy = await flags.addStrategy(PRODUCTION, { name: 'default', segments: [id] });
      await received(client, 2);
      expect(client.messages[1]?.events).toMatchObject([
        { type: 'segment-updated', segment: { id, name: 'beta', constraints: [{ ...CONSTRAINT, inverted: false }] } },
        { type: 'feature-updated', feature: { name: 'checkout' } },
      ]);

      await flags.segments.update({ segment: id }, { name: 'first' });
      await received(client, 3);
      expect(client.messages[2]?.events).toMatchObject([{ type: 'segment-updated', segment: { id, name: 'first' } }]);

      await flags.removeStrategy({ ...PRODUCTION, strategy: strategy.id });
      await received(client, 4);
      expect(client.messages[3]?.events).toMatchObject([
        { type: 'feature-updated' },
        { type: 'segment-removed', segmentId: id, eventId: 4 },
      ]);
    });

    it('omits changes that are invisible in its environment, and changes of other projects', async () => {
      const flags = await start();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await createOn(flags, { name: 'checkout' });
      const client = await join({}, '?project=default&namePrefix=check');
      await received(client, 1);
      await flags.addStrategy({ ...PRODUCTION, environment: 'development' }, { name: 'default' });
      await createOn(flags, { name: 'checkbox' }, 'shop');
      await createOn(flags, { name: 'other' });
      await flags.disable(PRODUCTION);
      await received(client, 2);
      expect(client.messages[1]?.events).toMatchObject([{ feature: { name: 'checkout', enabled: false } }]);
    });

    it('adds and removes flags whose labels start or stop to match its tags', async () => {
      const flags = await start();
      await createOn(flags, { name: 'checkout' });
      const client = await join({}, '?tag=simple:blue');
      await received(client, 1);
      expect(client.messages[0]).toMatchObject({ events: [{ type: 'hydration', features: [] }] });
      await flags.changeLabels(PRODUCTION, { add: ['blue'] });
      await received(client, 2);
      expect(client.messages[1]).toMatchObject({
        events: [{ type: 'feature-updated', feature: { name: 'checkout' } }],
      });
      await flags.changeLabels(PRODUCTION, { remove: ['blue'] });
      await received(client, 3);
      expect(client.messages[2]).toMatchObject({ events: [{ type: 'feature-removed', featureName: 'checkout' }] });
    });

    it('sends changes of another process on the same storage', async () => {
      const storage = memoryStorage();
      const flags = await start({ flags: { storage, pollInterval: 0 } });
      const other = await openFlags({ storage, pollInterval: 0 });
      const client = await join();
      await received(client, 1);
      await createOn(other, { name: 'checkout' });
      await flags.refresh();
      await received(client, 2);
      expect(client.messages[1]?.events).toMatchObject([{ type: 'feature-updated', feature: { enabled: true } }]);
    });

    it('continues after the last event of the client', async () => {
      const flags = await start();
      await createOn(flags, { name: 'checkout' });
      const first = await join();
      await received(first, 1);
      await flags.disable(PRODUCTION);
      await received(first, 2);
      first.leave();
      await until(first.hasEnded);
      await flags.enable(PRODUCTION);

      const second = await join({ 'last-event-id': first.messages[1]?.id ?? '' });
      await received(second, 1);
      expect(second.messages).toMatchObject([
        { event: 'unleash-updated', events: [{ type: 'feature-updated', eventId: 3, feature: { enabled: true } }] },
      ]);
      const third = await join({ 'last-event-id': first.messages[0]?.id ?? '' });
      await received(third, 2);
      expect(third.messages.flatMap(({ events }) => events.map(({ eventId }) => eventId))).toEqual([2, 3]);
    });

    it.each(['nonsense', '1', '0123456789abcdef-1', '-1', '9'.repeat(5000), '__proto__'])(
      'starts over for an unknown event id: %.20s',
      async (id) => {
        const flags = await start();
        await createOn(flags, { name: 'checkout' });
        const client = await join({ 'last-event-id': id });
        await received(client, 1);
        expect(client.messages).toMatchObject([{ event: 'unleash-connected' }]);
      },
    );

    it('does not resume with an event id of another view', async () => {
      const flags = await start();
      await createOn(flags, { name: 'checkout' });
      const production = await join();
      await received(production, 1);
      const development = await join({ 'last-event-id': production.messages[0]?.id ?? '' }, '?environment=development');
      await received(development, 1);
      expect(development.messages).toMatchObject([{ event: 'unleash-connected', events: [{ type: 'hydration' }] }]);
    });

    it('sends heartbeats', async () => {
      await start({ router: { auth: 'none', heartbeatInterval: 5 } });
      const client = await join();
      await until(() => client.heartbeats() >= 3);
      expect(client.messages).toHaveLength(1);
    });

    it('ends when its token is deleted', async () => {
      const flags = await start({ router: { auth: 'token', heartbeatInterval: 5 } });
      const created = await flags.tokens.create({ name: 'web', kind: 'client', environment: 'production' });
      const client = await join({ authorization: created.secret });
      await until(() => client.heartbeats() >= 2);
      await flags.tokens.delete({ token: created.token.id });
      await until(client.hasEnded);
    });

    it.each(['deleted', 'expired'])('ends before the next change is sent when its token is %s', async (how) => {
      let now = new Date('2026-01-01T10:00:00Z');
      const flags = await start({ router: { auth: 'token', heartbeatInterval: 3_600_000 }, flags: { now: () => now } });
      const token = { name: 'web', kind: 'client', environment: 'production' } as const;
      const expiresAt = how === 'expired' ? '2026-01-01T11:00:00Z' : null;
      const created = await flags.tokens.create({ ...token, expiresAt });
      const other = await flags.tokens.create({ ...token, name: 'other' });
      const ended = await join({ authorization: created.secret });
      const kept = await join({ authorization: other.secret });
      await flags.createFlag({ project: 'default' }, { name: 'before' });
      await received(ended, 2);
      now = new Date('2026-01-01T11:00:00Z');
      if (how === 'deleted') await flags.tokens.delete({ token: created.token.id });
      await flags.createFlag({ project: 'default' }, { name: 'after' });
      await until(ended.hasEnded);
      await received(kept, 3);
      expect(JSON.stringify(ended.messages)).not.toContain('after');
      expect(kept.hasEnded()).toBe(false);
    });

    it('ends when its server stops to listen', async () => {
      await start({ router: { auth: 'none', heartbeatInterval: 5 } });
      const client = await join();
      await until(() => client.heartbeats() >= 2);
      server.server.close();
      await until(client.hasEnded);
    });

    it('ends when its permission is withdrawn', async () => {
      let isAllowed = true;
      await start({ router: { auth: 'none', authorize: () => isAllowed, heartbeatInterval: 5 } });
      const client = await join();
      await until(() => client.heartbeats() >= 2);
      isAllowed = false;
      await until(client.hasEnded);
    });

    it('sends heartbeats, and ends, while another permission check hangs', async () => {
      const admitted = new Set(['slow', 'quick']);
      let isAnswering = true;
      let unanswered = 0;
      const auth = async (request: Request) => {
        const name = request.get('x-user') ?? '';
        if (name === 'slow' && !isAnswering) {
          unanswered += 1;
          await new Promise(() => undefined);
        }
        return admitted.has(name) ? { name } : null;
      };
      await start({ router: { auth, heartbeatInterval: 5 } });
      await join({ 'x-user': 'slow' });
      const quick = await join({ 'x-user': 'quick' });
      isAnswering = false;
      await until(() => unanswered > 0);
      const heartbeats = quick.heartbeats();
      await until(() => quick.heartbeats() >= heartbeats + 3);
      expect(unanswered).toBe(1);
      admitted.delete('quick');
      await until(quick.hasEnded);
    });

    it('disconnects only clients that do not read', async () => {
      const flags = await start();
      await createOn(flags, { name: 'checkout' });
      const reader = await join();
      const sleeper = connect(server.port, '127.0.0.1');
      let isCutOff = false;
      sleeper.pause();
      sleeper.on('error', () => undefined);
      sleeper.on('close', () => {
        isCutOff = true;
      });
      sleeper.write('GET /api/client/streaming HTTP/1.1\r\nhost: localhost\r\n\r\n');
      await until(async () => (await connections()) === 2);
      let changes = 0;
      await until(async () => {
        changes += 1;
        const value = `${changes % 10}`.repeat(250_000);
        await flags.setVariants(PRODUCTION, [{ name: 'blue', payload: { type: 'string', value } }]);
        await received(reader, changes);
        return (await connections()) < 2;
      });
      expect(reader.hasEnded()).toBe(false);
      sleeper.resume();
      await until(() => isCutOff);
    }, 60_000);

    it.each(['the router', 'the flags'])('ends when %s are closed, and refuses to start again', async (which) => {
      const flags = await start({ router: { auth: 'none' } });
      const client = await join();
      await received(client, 1);
      if (which === 'the router') server.router.close();
      else await flags.close();
      await until(client.hasEnded);
      const again = await fetch(stream);
      expect([again.status, await codeOf(again)]).toEqual([503, 'closed']);
      server.router.close();
    });

    it('replies to HEAD without a stream', async () => {
      await start();
      const response = await fetch(stream, { method: 'HEAD' });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      expect(response.headers.get('content-length')).toBeNull();
    });

    it('replies 404 for an unknown environment', async () => {
      await start();
      const response = await fetch(`${stream}?environment=moon`);
      expect([response.status, await codeOf(response)]).toEqual([404, 'environment_not_found']);
    });
  });

  async function codeOf(response: Response): Promise<string> {
    return ((await response.json()) as { code: string }).code;
  }

  /** The number of connections of the server. */
  function connections(): Promise<number> {
    return promisify(server.server.getConnections.bind(server.server))();
  }
});

describe('the frames of an update', () => {
  it('keep nothing in memory except themselves', () => {
    const segment = { id: 1, name: 'é', constraints: [] };
    const frame = updateFrame([{ type: 'segment-updated', segment }], { id: '0-1', eventId: 1 });
    expect(frame?.buffer.byteLength).toBe(frame?.byteLength);
    expect(frame?.toString()).toMatch(/^id:0-1\nevent:[a-z-]+\ndata:\{"events":\[\{.+\}\]\}\n\n$/);
  });
});
