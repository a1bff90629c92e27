import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { until } from '../../../../test/until.js';
import { auditLog, slack, webhook } from '../../src/consumers.js';
import { eventToWire } from '../../src/features/consumers/event-wire.js';
import { type Change, EVENT_TYPES, type Flags, type FlagsEvent, memoryStorage, openFlags } from '../../src/index.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';
import { happen, recording } from './recording.js';

const SECRET = `whsec_${Buffer.alloc(32, 'a').toString('base64')}`;
const LATER = `whsec_${Buffer.alloc(24, 'b').toString('base64')}`;
const { signal } = new AbortController();

interface Received {
  readonly headers: Record<string, string>;
  readonly text: string;
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: Record<string, unknown> };
}

type Answer = (response: ServerResponse, nth: number) => void;

const ok: Answer = (response) => void response.end();

describe('handlers', () => {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  let flags: Flags<string>;
  let errors: unknown[];
  /** The time of the engine; undefined: the real one. */
  let clock: string | undefined;

  beforeEach(async () => {
    errors = [];
    const onError = (error: unknown) => void errors.push(error);
    clock = undefined;
    const now = () => (clock === undefined ? new Date() : new Date(clock));
    const options = { pollInterval: 0, usage: { interval: 0 }, due: { run: 'elsewhere' }, now, onError } as const;
    flags = await openFlags({ ...options, storage: memoryStorage() });
  });
  afterEach(async () => {
    await flags.close();
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  });

  async function listen(server: Server): Promise<string> {
    servers.push(server);
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** A receiver that records its requests, and answers the nth, counted from 1. */
  async function receiver(answer: Answer = ok) {
    const received: Received[] = [];
    const listener: RequestListener = async (request: IncomingMessage, response) => {
      const body = await text(request);
      received.push({ headers: request.headers as Record<string, string>, text: body, body: JSON.parse(body) });
      answer(response, received.length);
    };
    return { url: `http://${await listen(createServer(listener))}/secret-path`, received };
  }

  /** The events of a flag that is created and switched on. */
  async function events(): Promise<readonly FlagsEvent[]> {
    const { position } = await flags.events.listNext();
    await flags.createFlag(DEFAULT, { name: 'checkout' }, { actor: 'ada', reason: 'Launch' });
    await flags.addStrategy(PRODUCTION, { name: 'default', constraints: [] });
    await flags.enable(PRODUCTION, { actor: 'grace' });
    return (await flags.events.listNext({ after: position })).items;
  }

  const IDS = {
    applied: '0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b01',
    rejected: '0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b02',
    withdrawn: '0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b03',
    failed: '0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b04',
  };
  const AT = '2020-01-01T12:00:00.000Z';

  /** The events of requests that end in every way. */
  async function requestEvents(): Promise<readonly FlagsEvent[]> {
    const [ada, grace] = [flags.as({ name: 'Ada', id: 'u-1' }), flags.as({ name: 'Grace', id: 'u-2' })];
    const policy = (required: number) => ({ environments: { production: { required } } });
    const approve = async (changeRequest: string) => {
      const { effect } = await flags.changeRequests.get({ changeRequest });
      await grace.changeRequests.approve({ changeRequest }, { effect: `${effect}` });
    };
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    const parameters = { rollout: 5, stickiness: 'default', groupId: 'checkout' };
    const { id } = await flags.addStrategy(PRODUCTION, { name: 'flexibleRollout', parameters });
    await flags.approvalPolicy.set(policy(1));
    const { position } = await flags.events.listNext();
    await ada.changeRequests.create([{ op: 'enable', ref: PRODUCTION }], { id: IDS.applied, reason: 'Launch' });
    await approve(IDS.applied);
    await ada.changeRequests.apply({ changeRequest: IDS.applied });
    const start = { op: 'startRollout', ref: { ...PRODUCTION, strategy: id }, input: { steps: [{ percentage: 9 }] } };
    await ada.changeRequests.create([start as Change], { id: IDS.rejected });
    await grace.changeRequests.reject({ changeRequest: IDS.rejected }, { reason: 'Not on a Friday' });
    await ada.changeRequests.create([{ op: 'setApprovalPolicy', input: { environments: {} } }], { id: IDS.withdrawn });
    await grace.changeRequests.withdraw({ changeRequest: IDS.withdrawn });
    const notAfter = new Date(Date.parse(AT) + 86_400_000).toISOString();
    clock = AT;
    await ada.changeRequests.create([{ op: 'disable', ref: PRODUCTION }], { id: IDS.failed, at: AT, notAfter });
    await flags.archiveFlag(CHECKOUT, { bypassApproval: 'Urgent' });
    await flags.runDue();
    return (await flags.events.listNext({ after: position })).items;
  }

  describe('webhook', () => {
    it('adds a sentence and a link to the events of change requests', async () => {
      const { url, received } = await receiver();
      const link = ({ data }: FlagsEvent) => `https://example.org/changes/${Object(data).id}`;
      await webhook({ url, secret: SECRET, link })(await requestEvents(), { signal });
      const [asked, approved, applied, switched] = received.map(({ body }) => body);
      expect(asked).toMatchObject({
        type: 'change-request-created',
        text: 'Ada asks for approval: checkout on in production',
        link: `https://example.org/changes/${IDS.applied}`,
        data: { createdBy: 'Ada', data: { id: IDS.applied, ops: ['enable'] } },
      });
      expect(approved).toMatchObject({ text: 'Grace approved the request of Ada: checkout on in production' });
      const both = [applied, switched].map((body) => [body?.type, 'text' in Object(body)]);
      expect(both).toEqual(
        expect.arrayContaining([
          ['change-request-ended', true],
          ['feature-environment-enabled', false],
        ]),
      );
      expect(received.every(({ text: sent }) => !sent.includes('u-1'))).toBe(true);
    });

    it('sends each event as the API shows it, in an order and signed so that the library of the scheme verifies it', async () => {
      const { url, received } = await receiver();
      const batch = await events();
      await webhook({ url, secret: [LATER, SECRET] })(batch, { signal });
      expect(received.map(({ body }) => body)).toEqual(
        JSON.parse(
          JSON.stringify(
            batch.map((event) => ({ type: eventToWire(event).type, timestamp: event.at, data: eventToWire(event) })),
          ),
        ),
      );
      expect(received.map(({ body }) => body.type)).toEqual([
        'feature-created',
        'feature-strategy-add',
        'feature-environment-enabled',
      ]);
      for (const { headers, text: body } of received) {
        expect(new Webhook(SECRET).verify(body, headers)).toEqual(JSON.parse(body));
        expect(new Webhook(LATER).verify(body, headers)).toEqual(JSON.parse(body));
        expect(() => new Webhook(SECRET).verify(body.replace('"', '" '), headers)).toThrow();
        const other = `whsec_${Buffer.alloc(32, 'c').toString('base64')}`;
        expect(() => new Webhook(other).verify(body, headers)).toThrow();
      }
    });

    it('gives an event the same id each time, and repeats a batch from the event that failed', async () => {
      const { url, received } = await receiver((response, nth) => response.writeHead(nth === 2 ? 500 : 204).end());
      const batch = await events();
      const handler = webhook({ url, secret: SECRET });
      await expect(handler(batch, { signal })).rejects.toThrow(/^127\.0\.0\.1:\d+ answered 500\.$/);
      await handler(batch, { signal });
      await handler(batch, { signal });
      // Another node, or this one after a reset, sends all again.
      await webhook({ url, secret: SECRET })(batch, { signal: new AbortController().signal });
      const ids = received.map(({ headers }) => headers['webhook-id']);
      const [a, b, c] = ids.slice(-3);
      expect(ids).toEqual([a, b, b, c, a, b, c, a, b, c]);
      expect(new Set(ids).size).toBe(3);
    });

    it('starts a failed batch again when the consumer has been reset', async () => {
      const { url, received } = await receiver((response, nth) => response.writeHead(nth === 2 ? 500 : 204).end());
      const batch = await events();
      const handler = webhook({ url, secret: SECRET });
      await expect(handler(batch, { signal })).rejects.toThrow();
      await handler(batch, { signal: new AbortController().signal });
      expect(received).toHaveLength(2 + 3);
    });

    it('sends the types that it is to send', async () => {
      const { url, received } = await receiver();
      await webhook({ url, secret: SECRET, events: ['environment-enabled'] })(await events(), { signal });
      expect(received.map(({ body }) => body.type)).toEqual(['feature-environment-enabled']);
    });

    it('leaves out states over 64 KiB, and names them', async () => {
      const { url, received } = await receiver();
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      const { position } = await flags.events.listNext();
      const parameters = { text: 'x'.repeat(70_000) };
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default', parameters });
      await flags.removeStrategy({ ...PRODUCTION, strategy: id });
      const { items: first } = await flags.events.listNext({ after: position });
      const { items: second } = await flags.events.listNext({ after: first.at(-1)?.position ?? null });
      const handler = webhook({ url, secret: SECRET });
      for (const batch of [first, second]) await handler(batch, { signal });
      const [added, removed] = received.map(({ body }) => body.data);
      expect(added).toMatchObject({ featureName: 'checkout', preData: null, omitted: ['data'] });
      expect(removed).toMatchObject({ featureName: 'checkout', data: null, omitted: ['preData'] });
      expect([added && 'data' in added, removed && 'preData' in removed]).toEqual([false, false]);
    });

    it('fails unless it is answered 2xx in time, follows no redirect, and does not tell the path', async () => {
      const target = await receiver();
      const redirecting = await receiver((response) => response.writeHead(307, { location: target.url }).end());
      const hanging = await receiver(() => undefined);
      const garbage = await listen(createTcpServer((socket) => socket.end('what?\r\n\r\n')));
      const closing = await listen(createTcpServer((socket) => socket.destroy()));
      const batch = await events();
      const failures: readonly (readonly [url: string, message: RegExp])[] = [
        [redirecting.url, /answered 307, and redirects are not followed/],
        [hanging.url, /did not answer within 200 ms/],
        [`http://${garbage}/secret-path`, /cannot be reached: /],
        [`http://${closing}/secret-path`, /cannot be reached: /],
        // A plain server does not know TLS.
        [target.url.replace('http:', 'https:'), /cannot be reached: .*(SSL|TLS|ssl)/],
        ['http://127.0.0.1:9/secret-path', /cannot be reached: /],
      ];
      for (const [url, message] of failures) {
        // Only the server that never answers meets a short limit: on a busy machine, the others may take longer.
        const timeout = url === hanging.url ? 200 : undefined;
        const handle = webhook({ url, secret: SECRET, ...(timeout !== undefined && { timeout }) });
        const error = await Promise.resolve(handle(batch, { signal })).catch((e) => e);
        expect([url, error]).toEqual([url, expect.objectContaining({ message: expect.stringMatching(message) })]);
        expect(String(error.message)).not.toContain('secret-path');
      }
      expect(target.received).toEqual([]);
    });

    it('does not wait for the body of an answer', async () => {
      let isClosed = false;
      const { url, received } = await receiver((response) => {
        response.writeHead(200);
        response.on('close', () => {
          isClosed = true;
        });
        const timer = setInterval(() => response.write('x'.repeat(100_000)), 1);
        response.on('close', () => clearInterval(timer));
      });
      await webhook({ url, secret: SECRET, events: ['environment-enabled'] })(await events(), { signal });
      expect(received).toHaveLength(1);
      await until(() => isClosed);
    });

    it('ends a request when its node may no longer send', async () => {
      const { url, received } = await receiver(() => undefined);
      const ending = new AbortController();
      const sending = webhook({ url, secret: SECRET })(await events(), { signal: ending.signal });
      await until(() => received.length === 1);
      const reason = new Error('reset');
      ending.abort(reason);
      await expect(sending).rejects.toBe(reason);
    });

    it('sends nothing more after a 410, says so, and tries again when the consumer has been reset', async () => {
      let status = 410;
      const { url, received } = await receiver((response) => response.writeHead(status).end());
      const handler = webhook({ url, secret: SECRET });
      const ends = /^127\.0\.0\.1:\d+ answered 410: it takes no more events, and nothing more is sent to it\./;
      const batch = await events();
      for (const repeated of [batch, batch, batch.slice(1)]) {
        await expect(handler(repeated, { signal })).rejects.toThrow(ends);
      }
      expect(received).toHaveLength(1);

      await flags.consume('gone', handler);
      await happen(flags, 'a');
      const errorOf = async () => (await flags.consumers.list()).items[0]?.error ?? '';
      await until(async () => ends.test(await errorOf()));
      expect(received).toHaveLength(2);
      status = 204;
      await handler(batch, { signal: new AbortController().signal });
      expect(received).toHaveLength(2 + batch.length);
    });

    it('takes a secret without its prefix as the same one', async () => {
      const { url, received } = await receiver();
      await webhook({ url, secret: SECRET.slice('whsec_'.length) })(await events(), { signal });
      for (const { headers, text: body } of received) {
        expect(new Webhook(SECRET).verify(body, headers)).toEqual(JSON.parse(body));
      }
    });

    it('delays no other consumer while its receiver is broken', async () => {
      const broken = await receiver((response) => response.writeHead(500).end());
      const healthy = await receiver();
      await flags.consume('broken', webhook({ url: broken.url, secret: SECRET }));
      await flags.consume('healthy', webhook({ url: healthy.url, secret: SECRET }));
      await happen(flags, 'a', 'b');
      await until(() => healthy.received.length === 2);
      await until(() => errors.length > 0);
      expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('answered 500') })]);
      expect(broken.received).toHaveLength(1);
    });

    const URL = 'https://example.org/hooks';
    it.each([
      ['a relative URL', { url: '/hooks', secret: SECRET }, '/url'],
      ['no URL', { secret: SECRET }, '/url'],
      ['a URL with a password', { url: 'https://ada:pass@example.org/', secret: SECRET }, '/url'],
      ['another protocol', { url: 'file:///etc/passwd', secret: SECRET }, '/url'],
      ['another prefix', { url: URL, secret: `whpk_${SECRET.slice(6)}` }, '/secret'],
      ['a secret that is not base64', { url: URL, secret: `${SECRET.slice(6)}!` }, '/secret'],
      ['a short secret', { url: URL, secret: `whsec_${Buffer.alloc(23).toString('base64')}` }, '/secret'],
      ['no secrets', { url: URL, secret: [] }, '/secret'],
      ['an unknown type', { url: URL, secret: SECRET, events: ['flag-burnt'] }, '/events'],
      ['no time', { url: URL, secret: SECRET, timeout: 0 }, '/timeout'],
    ])('refuses %s, and does not repeat a secret', (_, options, path) => {
      const attempt = () => webhook(options as never);
      expect(attempt).toThrow(expect.objectContaining({ code: 'invalid_input' }));
      expect(attempt).toThrow(expect.objectContaining({ details: [expect.objectContaining({ path })] }));
      expect(attempt).not.toThrow(SECRET.slice(6));
    });

    it('names all types of events for an unknown one', () => {
      const attempt = () => webhook({ url: URL, secret: SECRET, events: ['flag-burnt'] as never });
      expect(attempt).toThrow(`must be a list of event types: ${EVENT_TYPES.join(', ')}`);
    });
  });

  describe('slack', () => {
    const post = async (options: Parameters<typeof slack>[1], batch: readonly FlagsEvent[]) => {
      const { url, received } = await receiver();
      await slack(url, options)(batch, { signal });
      return received.map(({ body }) => (body as unknown as { readonly text: string }).text);
    };

    it('tells each change set in the words of the history, with a link', async () => {
      const link = ({ flag }: FlagsEvent) => flag && `https://example.org/?a=1&flag=${flag}|x`;
      expect(await post({ link }, await events())).toEqual([
        [
          '*ada* changed:',
          '• <https://example.org/?a=1&amp;flag=checkout%7Cx|flag checkout>: created, off in every environment',
          '• <https://example.org/?a=1&amp;flag=checkout%7Cx|flag checkout>: project default',
          '• <https://example.org/?a=1&amp;flag=checkout%7Cx|flag checkout>: type release',
          '_Why:_ Launch',
        ].join('\n'),
        '*system* changed:\n• <https://example.org/?a=1&amp;flag=checkout%7Cx|flag checkout>: production · strategy Everyone',
        '*grace* changed:\n• <https://example.org/?a=1&amp;flag=checkout%7Cx|flag checkout>: production · enabled off → on',
      ]);
    });

    it('links nothing where the host has no address, whatever the event is about', async () => {
      const { position } = await flags.events.listNext();
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.addMember({ project: 'shop' }, { userId: 7, roleId: 5 });
      await flags.segments.create({ name: 'beta', constraints: [] });
      await flags.tokens.create({ name: 'web', kind: 'client', environment: 'production' });
      await flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
      const { items } = await flags.events.listNext({ after: position });
      for (const nothing of [null, undefined]) {
        const texts = await post({ link: ({ flag }) => flag && nothing }, items);
        expect(texts).toHaveLength(6);
        expect(texts.join()).not.toMatch(/<|null|undefined/);
        expect(texts.at(-1)).toContain('• settings approval-policy: production · required 1');
      }
    });

    it('tells change requests in sentences, with a link: who asks for what, and who has decided about it', async () => {
      const link = ({ type, data }: FlagsEvent) =>
        type.startsWith('change-request-') ? `https://example.org/changes/${Object(data).id}` : undefined;
      const texts = await post({ link }, await requestEvents());
      const linked = (id: string, sentence: string) => `<https://example.org/changes/${id}|${sentence}>`;
      expect(texts).toEqual([
        `${linked(IDS.applied, 'Ada asks for approval: checkout on in production')}\n_Why:_ Launch`,
        linked(IDS.applied, 'Grace approved the request of Ada: checkout on in production'),
        [
          linked(IDS.applied, 'Ada applied the request: checkout on in production'),
          '*Ada* changed:',
          '• flag checkout: production · enabled off → on',
          '_Why:_ Launch',
        ].join('\n'),
        linked(IDS.rejected, 'Ada asks for approval: rollout of checkout in production'),
        `${linked(IDS.rejected, 'Grace rejected the request of Ada: rollout of checkout in production')}\n_Why:_ Not on a Friday`,
        linked(IDS.withdrawn, 'Ada asks for approval: the approval policy'),
        linked(IDS.withdrawn, 'Grace withdrew the request of Ada: the approval policy'),
        linked(IDS.failed, `Ada plans a change at ${AT}: checkout off in production`),
        expect.stringContaining('changed:'),
        expect.stringMatching(/\|The request of Ada failed: checkout off in production\. .*archived.*>$/),
      ]);
    });

    it('escapes what Slack would take for a mention or a link', async () => {
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      const { position } = await flags.events.listNext();
      await flags.updateFlag(CHECKOUT, { description: '<!channel> & more' }, { actor: '<@ada>' });
      const { items } = await flags.events.listNext({ after: position });
      expect(await post({}, items)).toEqual([
        '*&lt;@ada&gt;* changed:\n• flag checkout: description &lt;!channel&gt; &amp; more',
      ]);
    });

    it.each(['\n', '\r\n', '\r', '\u2028', '\u2029', '\v', '\f', '\u0085', '\u202e'])(
      'keeps each text on its line: %j',
      async (character) => {
        const forged = `a${character}*grace* changed:${character}• flag checkout: enabled off → on`;
        await flags.createFlag(DEFAULT, { name: 'checkout' });
        const { position } = await flags.events.listNext();
        const context = { actor: `ada${forged}`, reason: forged };
        await flags.updateFlag(
          CHECKOUT,
          { description: forged, owner: forged, labels: [forged.slice(0, 50).trim()] },
          context,
        );
        await flags.segments.create({ name: forged, constraints: [] }, context);
        const payload = { type: 'string', value: forged } as const;
        await flags.setVariants(CHECKOUT, [{ name: 'blue', payload }], context);
        const strategy = { name: 'default', title: forged, parameters: { a: forged } };
        await flags.addStrategy({ ...CHECKOUT, environment: 'production' }, strategy, context);
        const { items } = await flags.events.listNext({ after: position });
        const link = () => `https://example.org/${forged}`;
        const messages = await post({ link }, items);
        expect(messages).toHaveLength(4);
        for (const message of messages) {
          expect(message).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
          const [head = '', ...lines] = message.split('\n');
          expect(head).toMatch(/^\*adaa.*changed:$/);
          expect(lines.at(-1)).toMatch(/^_Why:_ /);
          for (const line of lines.slice(0, -1)) expect(line).toMatch(/^• <https:/);
        }
      },
    );

    it('tells what became of a change request', async () => {
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      const { position } = await flags.events.listNext();
      const archive = { op: 'archiveFlag', ref: CHECKOUT } as const;
      const { at } = await flags.changeRequests.create([archive], { at: new Date().toISOString(), actor: 'ada' });
      await flags.runDue();
      const { items } = await flags.events.listNext({ after: position });
      expect(await post({}, items)).toEqual([
        `ada plans a change at ${at}: checkout archived`,
        'ada applied the request: checkout archived\n*ada* changed:\n• flag checkout: archived no → yes',
      ]);
    });

    it('tells what became of a rollout', async () => {
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      const { id: strategy } = await flags.addStrategy(PRODUCTION, { name: 'flexibleRollout' });
      await flags.enable(PRODUCTION);
      const ref = { ...PRODUCTION, strategy };
      const { position } = await flags.events.listNext();
      const steps = [{ percentage: 5, hold: null }, { percentage: 25, hold: null }, { percentage: 100 }];
      await flags.rollouts.start(ref, { steps, guarded: true }, { actor: 'ada' });
      await flags.rollouts.advance(ref, {}, { actor: 'ada' });
      await flags.rollouts.stop(ref, { rollback: true }, { actor: 'bob' });
      await flags.rollouts.start(ref, { steps: [{ percentage: 5 }] }, { actor: 'ada' });
      await flags.disable(PRODUCTION, { actor: 'bob' });
      const { items } = await flags.events.listNext({ after: position });
      const line = '• flag checkout: production · ';
      expect(await post({}, items)).toEqual([
        `*ada* changed:\n${line}rolls out in steps: 5 % until advanced, 25 % until advanced, 100 %, guarded`,
        `*ada* changed:\n${line}rollout at 25 %, step 2 of 3`,
        `*bob* changed:\n${line}rollout rolled back to 0 %`,
        `*ada* changed:\n${line}rolls out in steps: 5 %`,
        `*bob* changed:\n${line}rollout ended by this change\n${line}enabled on → off`,
      ]);
    });

    it('posts one message per change set, of the wanted types, and of at most 20 lines', async () => {
      const { position } = await flags.events.listNext();
      const names = Array.from({ length: 30 }, (_, n) => `f${n}`);
      await flags.apply(names.map((name) => ({ op: 'createFlag', ref: DEFAULT, input: { name } })));
      await flags.tokens.create({ name: 'deploy', kind: 'admin' });
      await flags.segments.create({ name: 'beta', constraints: [] });
      const { items } = await flags.events.listNext({ after: position });
      const [set = '', token = '', segment = '', ...more] = await post({}, items);
      expect(set.split('\n')).toHaveLength(22);
      expect(set).toMatch(/… and \d+ more$/);
      expect(token).toContain('• token deploy: created');
      expect(segment).toContain('• segment beta: created');
      expect(more).toEqual([]);
      expect(await post({ events: ['segment-created'] }, items)).toEqual([segment]);
    });
  });

  describe('auditLog', () => {
    /** A stream that takes a chunk when it is released. */
    function slowStream() {
      const written: string[] = [];
      let release: (error?: Error) => void = () => undefined;
      const stream = new Writable({
        highWaterMark: 1,
        write(chunk, _, done) {
          written.push(`${chunk}`);
          release = done;
        },
      });
      return { stream, written, release: (error?: Error) => release(error) };
    }

    it('writes one line of JSON per event, and waits until the stream has written them', async () => {
      const { stream, written, release } = slowStream();
      const batch = await events();
      let isDone = false;
      const writing = Promise.resolve(auditLog(stream)(batch, { signal })).then(() => {
        isDone = true;
      });
      await new Promise(setImmediate);
      expect(isDone).toBe(false);
      release();
      await writing;
      const lines = written.join('').split('\n');
      expect(lines.pop()).toBe('');
      expect(lines.map((line) => JSON.parse(line))).toEqual(batch);
    });

    it('throws the error of the stream, which does not end the process', async () => {
      const { stream, release } = slowStream();
      const fault = new Error('no space left');
      const writing = auditLog(stream)(await events(), { signal });
      release(fault);
      await expect(writing).rejects.toBe(fault);
      await new Promise(setImmediate);
      await expect(auditLog(stream)(await events().catch(() => []), { signal })).rejects.toThrow();
      expect(stream.listenerCount('error')).toBeLessThanOrEqual(1);
    });

    it('ends when its node may no longer write', async () => {
      const { stream } = slowStream();
      const ending = new AbortController();
      const writing = auditLog(stream)(await events(), { signal: ending.signal });
      ending.abort(new Error('reset'));
      await expect(writing).rejects.toThrow('reset');
    });
  });

  it('gets what is thrown before the first wait, too', async () => {
    const { handler } = recording();
    await flags.consume('audit', ((...given: Parameters<typeof handler>) => {
      void handler(...given);
      throw new Error('at once');
    }) as never);
    await happen(flags, 'a');
    await until(() => errors.length > 0);
    expect(errors).toEqual([new Error('at once')]);
  });
});
