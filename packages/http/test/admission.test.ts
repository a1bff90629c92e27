import { once } from 'node:events';
import { type ClientRequest, createServer, type RequestListener, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Change, type Flags, memoryStorage, openFlags } from '@flags/core';
import express from 'express';
import { until } from '../../../test/until.js';
import { createFlagsRouter } from '../../express/src/index.js';
import { type Admission, createAdmission, type WorkKind } from '../src/api/admission.js';
import { createFlagsApi, toFetchHandler, toNodeHandler } from '../src/index.js';
import { type FlagsReply, type ReplySink, textReply, toFlagsReply } from '../src/messages/reply.js';

const ENVIRONMENT = { project: 'default', flag: 'checkout', environment: 'production' };
const PREVIEW = '/api/admin/changes/preview';
const IMPORT = '/api/admin/import';
const CHANGES = '/api/admin/changes';
const ENABLING = { changes: [{ op: 'enable', ref: ENVIRONMENT }] };
const previewOf = (contexts: number) => ({
  changes: [{ op: 'addStrategy', ref: ENVIRONMENT, input: { name: 'slow' } }],
  environment: 'production',
  contexts: Array.from({ length: contexts }, (_, n) => ({ userId: `${n}` })),
});

let flags: Flags<'slow' | 'counting'>;
/** Contexts that the slow strategy was evaluated for. */
let evaluations: number;

beforeEach(async () => {
  evaluations = 0;
  const slow = {
    name: 'slow',
    isEnabled() {
      evaluations++;
      const end = performance.now() + 1;
      while (performance.now() < end);
      return false;
    },
  };
  flags = await openFlags({ storage: memoryStorage(), strategies: [slow] });
  await flags.createFlag({ project: 'default' }, { name: 'checkout' });
  await flags.addStrategy(ENVIRONMENT, { name: 'slow' });
  await flags.enable(ENVIRONMENT);
});

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await flags.close();
});

/** A permission check that waits. The handler of a change set asks for it, so its request has a place. */
interface Held {
  readonly actor: string;
  release(): void;
}

interface Answer {
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  readonly code: string | undefined;
}

interface Sent {
  readonly request: ClientRequest;
  readonly answer: Promise<Answer>;
}

interface Server {
  readonly port: number;
  /** Responses whose connection has closed. */
  closed(): number;
}

async function listen(listener: RequestListener): Promise<Server> {
  let closed = 0;
  const server = createServer((request, response) => {
    response.on('close', () => closed++);
    listener(request, response);
  }).listen(0);
  await once(server, 'listening');
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return { port: (server.address() as AddressInfo).port, closed: () => closed };
}

/** Serves the API. Permission checks of heavy requests wait until the test releases them. */
async function listenHeld() {
  const held: Held[] = [];
  const api = createFlagsApi<{ readonly name: string }, { readonly headers: NodeJS.Dict<string | string[]> }>(flags, {
    auth: ({ headers }) => ({ name: String(headers['x-actor']) }),
    authorize({ name: actor }, action) {
      if (action !== 'previewChanges' && action !== 'importDefinitions') return true;
      return new Promise<boolean>((resolve) => {
        const entry = {
          actor,
          release() {
            held.splice(held.indexOf(entry), 1);
            resolve(false);
          },
        };
        held.push(entry);
      });
    },
  });
  const server = await listen(toNodeHandler(api));
  return { ...server, held, actors: () => held.map(({ actor }) => actor).sort() };
}

interface Posted {
  readonly actor?: string;
  readonly body: object;
  /** Reads nothing of the answer but its head. */
  readonly isUnread?: true;
}

function post(port: number, path: string, { actor = 'ada', body, isUnread }: Posted) {
  const text = JSON.stringify(body);
  const headers = { 'content-type': 'application/json', 'content-length': `${text.length}`, 'x-actor': actor };
  const request = send({ port, path, method: 'POST', headers, agent: false });
  const answer = new Promise<Answer>((resolve) => {
    request.on('response', async (response) => {
      let content = '';
      if (isUnread) return resolve({ status: response.statusCode, retryAfter: undefined, code: undefined });
      for await (const chunk of response) content += chunk;
      const { code } = content === '' ? { code: undefined } : JSON.parse(content);
      resolve({ status: response.statusCode, retryAfter: response.headers['retry-after'], code });
    });
    request.on('error', () => resolve({ status: undefined, retryAfter: undefined, code: undefined }));
  });
  request.end(text);
  return { request, answer } satisfies Sent;
}

/** Collects the answers that have arrived. */
function collect(sent: readonly Sent[]): Answer[] {
  const answers: Answer[] = [];
  for (const { answer } of sent) void answer.then((one) => answers.push(one));
  return answers;
}

const OVERLOADED = { status: 503, retryAfter: '1', code: 'overloaded' };
const preview = (port: number, actor: string) => post(port, PREVIEW, { actor, body: previewOf(1) });
const plan = (port: number, actor: string) => post(port, IMPORT, { actor, body: { definitions: {}, dryRun: true } });

describe('long requests', () => {
  it('do two plans and one change at a time, wait if they are at most eight, and else get 503', async () => {
    const { port, held } = await listenHeld();
    const changes = [plan(port, 'grace')];
    await until(() => held.length === 1);
    const reads = Array.from({ length: 11 }, (_, n) => preview(port, `reader ${n}`));
    const answers = collect(reads);
    await until(() => answers.length === 1);
    expect(answers).toEqual([OVERLOADED]);

    for (let left = 10; left > 0; left--) {
      await until(() => held.length === Math.min(2, left) + 1);
      held.find(({ actor }) => actor !== 'grace')?.release();
      await until(() => answers.length === 12 - left);
    }
    expect(answers.slice(1).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 403));
    held[0]?.release();
    expect(await changes[0]?.answer).toMatchObject({ status: 403 });
  });

  it('have one place for each actor, and half of the queue', async () => {
    const { port, held, actors } = await listenHeld();
    const own = Array.from({ length: 6 }, () => preview(port, 'ada'));
    const answers = collect(own);
    await until(() => answers.length === 1);
    expect(answers).toEqual([OVERLOADED]);
    expect(actors()).toEqual(['ada']);
    const other = preview(port, 'grace');
    await until(() => held.length === 2);
    expect(actors()).toEqual(['ada', 'grace']);
    while (held.length > 0) {
      held[0]?.release();
      await until(() => held.length > 0 || answers.length === 6);
    }
    expect((await other.answer).status).toBe(403);
  });

  it('of a disconnected client wait no longer', async () => {
    const { port, held, closed } = await listenHeld();
    const reads = Array.from({ length: 11 }, (_, n) => preview(port, `reader ${n}`));
    const answers = collect(reads);
    await until(() => answers.length === 1 && held.length === 2);
    const inside = held.map(({ actor }) => actor);
    const statuses = new Map<number, number | undefined>();
    for (const [n, { answer }] of reads.entries()) void answer.then(({ status }) => statuses.set(n, status));
    await until(() => statuses.size === 1);
    const waiting = reads.find((_, n) => !statuses.has(n) && !inside.includes(`reader ${n}`));
    const before = closed();
    waiting?.request.destroy();
    await until(() => closed() === before + 1);

    const later = [preview(port, 'later 1'), preview(port, 'later 2')];
    const laterAnswers = collect(later);
    await until(() => laterAnswers.length === 1);
    expect(laterAnswers).toEqual([OVERLOADED]);
    for (let count = 0; count < 10; count++) {
      await until(() => held.length > 0);
      held[0]?.release();
    }
  });

  it('never delay a change that disables a flag', async () => {
    const { port, held } = await listenHeld();
    const changes = ['one', 'two'].map((actor) => plan(port, actor));
    const reads = Array.from({ length: 10 }, (_, n) => preview(port, `reader ${n}`));
    const answers = collect([...changes, ...reads]);
    // The queue is full: one of the requests is refused.
    await until(() => answers.length === 1);
    const disabling = Array.from({ length: 50 }, () => ({ op: 'disable', ref: ENVIRONMENT }));
    expect(await post(port, CHANGES, { body: { changes: disabling } }).answer).toMatchObject({ status: 200 });
    expect((await flags.getFlag(ENVIRONMENT)).environments).toContainEqual(
      expect.objectContaining({ name: 'production', enabled: false }),
    );
    const off = `/api/admin/projects/default/features/checkout/environments/production/off`;
    expect(await post(port, off, { body: {} }).answer).toMatchObject({ status: 200 });
    expect(await post(port, CHANGES, { body: ENABLING }).answer).toMatchObject({ status: 200 });
    const enabling = Array.from({ length: 50 }, () => ENABLING.changes[0]);
    expect(await post(port, CHANGES, { body: { changes: enabling } }).answer).toEqual(OVERLOADED);
    while (answers.length < 12) {
      await until(() => held.length > 0 || answers.length === 12);
      held[0]?.release();
    }
  });
});

describe('twelve bodies of 800 kB by one actor', () => {
  it('are all answered, because most of them wait unread', async () => {
    const { port } = await listen(toNodeHandler(createFlagsApi(flags, { auth: 'none' })));
    const change = { op: 'addStrategy', ref: ENVIRONMENT };
    const text = 'x'.repeat(400_000);
    const body = { changes: [1, 2].map(() => ({ ...change, input: { name: 'default', parameters: { text } } })) };
    const sent = Array.from({ length: 12 }, () => post(port, `${CHANGES}/plan`, { body }).answer);
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(Array(12).fill(200));
  });
});

/** A request that evaluates very much. */
const LONG: readonly (readonly [name: string, path: string, body: object])[] = [
  ['a preview', PREVIEW, previewOf(1000)],
  ['the playground', '/api/admin/playground', { environment: 'production', context: { userId: '7' } }],
  ['a frontend evaluation', '/api/frontend', { context: { userId: '7' } }],
  ['a bulk evaluation over OFREP', '/ofrep/v1/evaluate/flags', { context: { targetingKey: '7' } }],
];

/** Sends a request to an adapter, and leaves. */
type Leave = (path: string, body: object, isTime: () => boolean) => Promise<void>;

async function leaveServer(listener: RequestListener, ...[path, body, isTime]: Parameters<Leave>): Promise<void> {
  const { port } = await listen(listener);
  const { request } = post(port, path, { body });
  await until(isTime);
  request.destroy();
}

const ADAPTERS: readonly (readonly [name: string, leave: Leave])[] = [
  ['toNodeHandler', (...sent) => leaveServer(toNodeHandler(createFlagsApi(flags, { auth: 'none' })), ...sent)],
  ['createFlagsRouter', (...sent) => leaveServer(express().use(createFlagsRouter(flags, { auth: 'none' })), ...sent)],
  [
    'toFetchHandler',
    async (path, body, isTime) => {
      const client = new AbortController();
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      const handler = toFetchHandler(createFlagsApi(flags, { auth: 'none' }));
      const handled = handler(new Request(`http://localhost${path}`, { ...init, signal: client.signal }));
      await until(isTime);
      client.abort();
      expect((await handled).status).toBe(499);
    },
  ],
];

describe.each(ADAPTERS)('%s', (_, leave) => {
  it.each(LONG)('ends %s when the client has disconnected', async (_, path, body) => {
    const names = Array.from({ length: 300 }, (_, n) => `slow-${n}`);
    for (const flag of names) {
      await flags.createFlag({ project: 'default' }, { name: flag });
      await flags.addStrategy({ ...ENVIRONMENT, flag }, { name: 'slow' });
      await flags.enable({ ...ENVIRONMENT, flag });
    }
    await leave(path, body, () => evaluations > 0);
    let known = -1;
    await until(() => {
      const isOver = evaluations === known;
      known = evaluations;
      return isOver;
    });
    expect(evaluations).toBeLessThan(250);
  });
});

describe('a place', () => {
  const FLAG = { ref: ENVIRONMENT };

  it('of a change is freed by its commit, even if the client does not read a long reply', async () => {
    const { port } = await listen(toNodeHandler(createFlagsApi(flags, { auth: 'none' })));
    const text = 'x'.repeat(400_000);
    const changes = Array.from({ length: 8 }, (_, n) => [
      { op: 'createFlag', ref: { project: 'default' }, input: { name: `long-${n}` } },
      { op: 'addStrategy', ref: { ...FLAG.ref, flag: `long-${n}` }, input: { name: 'default', parameters: { text } } },
    ]).flat();
    const { id } = await flags.apply(changes as never);
    const unread = post(port, `${CHANGES}/${id}/undo`, { body: {}, isUnread: true });
    await unread.answer;
    const many = Array.from({ length: 20 }, () => ENABLING.changes[0]);
    expect(await post(port, CHANGES, { body: { changes: many } }).answer).toMatchObject({ status: 200 });
    unread.request.destroy();
  });

  it('is counted as one per token for lists, which wait however many there are', async () => {
    const { port } = await listen(toNodeHandler(createFlagsApi(flags, { auth: 'none' })));
    const sent = Array.from({ length: 64 }, () => fetch(`http://127.0.0.1:${port}/api/admin/features`));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});

/** Requests a path without a server. With `auth: 'none'`, all callers share a place. */
function createCheck(auth: 'none' | (() => { readonly name: string }) = 'none') {
  const api = createFlagsApi(flags, { auth });
  return (path: string, rawQuery = '') =>
    api.handle({
      ...{ method: 'GET', path, rawQuery, originalUrl: `${path}?${rawQuery}`, host: 'localhost' },
      ...{ headers: { host: 'localhost' }, hasBody: false, native: {} },
      ip: () => undefined,
      readBody: async () => undefined,
    });
}

describe('a long answer', () => {
  it('keeps its place until the client has taken it, although it was made whole', async () => {
    const values = Array.from({ length: 20_000 }, (_, n) => `user-${n}`);
    const constraints = [{ contextName: 'userId', operator: 'IN', values } as const];
    const { id } = await flags.segments.create({ name: 'long', constraints });
    let callers = 0;
    const ask = createCheck(() => ({ name: `caller ${++callers}` }));
    const [first, second] = await Promise.all([1, 2].map(() => ask(`/api/admin/segments/${id}`)));
    expect(Number(first?.headers['content-length'])).toBeGreaterThan(200_000);
    let third: FlagsReply | undefined;
    void ask(`/api/admin/segments/${id}`).then((reply) => {
      third = reply;
    });
    // A request that needs no place overtakes it.
    await ask('/api/admin/projects/default/features/checkout');
    expect(third).toBeUndefined();
    await first?.discard?.();
    await until(() => third !== undefined);
    await Promise.all([second?.discard?.(), third?.discard?.()]);
  });

  it('that is too long to share has a place of its user, who holds one at a time', async () => {
    await flags.close();
    const environments = Array.from({ length: 70 }, (_, n) => ({ name: `env-${n}`, displayName: 'x'.repeat(100) }));
    flags = await openFlags({ storage: memoryStorage(), environments, environment: 'env-0' });
    const changes = Array.from({ length: 500 }, (_, number): Change<'slow' | 'counting'> => {
      return { op: 'createFlag', ref: { project: 'default' }, input: { name: `flag-${number}` } };
    });
    await flags.apply(changes);
    let caller = 'eve';
    const ask = createCheck(() => ({ name: caller }));
    const list = '/api/admin/projects/default/features';
    const unread: FlagsReply[] = [];
    const asked = Array.from({ length: 8 }, async () => unread.push((await ask(list)) as FlagsReply));
    await until(() => unread.length > 0);
    caller = 'ada';
    const other = await ask(list);
    expect([other?.status, unread.length]).toEqual([200, 1]);
    await other?.discard?.();
    for (let taken = 0; taken < asked.length; taken++) {
      await until(() => unread.length > taken);
      await unread[taken]?.discard?.();
    }
  });

  it('to clients that take nothing keeps the others waiting for 5 seconds each, and not longer', async () => {
    const values = Array.from({ length: 20_000 }, (_, n) => `user-${n}`);
    const { id } = await flags.segments.create({
      name: 'long',
      constraints: [{ contextName: 'userId', operator: 'IN', values }],
    });
    let callers = 0;
    const ask = createCheck(() => ({ name: `caller ${++callers}` }));
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const replies: FlagsReply[] = [];
      const sinks: SilentSink[] = [];
      for (let count = 0; count < 6; count++) {
        void ask(`/api/admin/segments/${id}`).then((reply) => reply && replies.push(reply));
      }
      const begun = performance.now();
      const answeredAt: number[] = [];
      while (answeredAt.length < 6) {
        for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
        await jest.advanceTimersByTimeAsync(50);
        for (const reply of replies.slice(answeredAt.length)) {
          answeredAt.push(performance.now() - begun);
          sinks.push(silentSink());
          void reply.stream?.(sinks.at(-1) as SilentSink);
        }
      }
      const [, , , third = 0, , last = 0] = answeredAt;
      expect([third > 5000, third < 5300, last > 10_000, last < 10_600]).toEqual([true, true, true, true]);
      expect(sinks.map(({ destroyed }) => destroyed)).toEqual([true, true, true, true, false, false]);
      for (const sink of sinks) sink.destroy();
    } finally {
      jest.useRealTimers();
    }
  });

  it('is kept once for all spellings of its path, and with unknown parameters', async () => {
    const ask = createCheck();
    const path = '/api/admin/projects/default/features/checkout';
    const known = await ask(path);
    for (const spelling of [path, `${path}/`, path.replaceAll('/', '//')]) {
      expect((await ask(spelling, `x=${spelling.length}`))?.body).toBe(known?.body);
    }
  });

  it('of evaluations is made for two clients at a time; others wait after 64 KiB', async () => {
    const FLAGS = 400;
    const counts = new Map<string, number>();
    let most = 0;
    const counting = {
      name: 'counting',
      isEnabled(_: object, { userId = '' }: { readonly userId?: string }) {
        counts.set(userId, (counts.get(userId) ?? 0) + 1);
        // Pages of 50 flags reach 64 KiB with the second one. The first client to end has evaluated all.
        if (counts.get(userId) === FLAGS && most === 0) most = [...counts.values()].filter((n) => n > 100).length;
        const end = performance.now() + 0.1;
        while (performance.now() < end);
        return true;
      },
    };
    await flags.close();
    flags = await openFlags({ storage: memoryStorage(), strategies: [counting as never] });
    const names = Array.from({ length: FLAGS }, (_, n) => `flag-${n}`);
    const payload = { type: 'string', value: 'p'.repeat(1000) } as const;
    const changesOf = (flag: string): readonly Change<'slow' | 'counting'>[] => [
      { op: 'createFlag', ref: { project: 'default' }, input: { name: flag } },
      { op: 'setVariants', ref: { project: 'default', flag }, input: [{ name: 'blue', payload }] },
      { op: 'addStrategy', ref: { ...ENVIRONMENT, flag }, input: { name: 'counting' as never } },
      { op: 'enable', ref: { ...ENVIRONMENT, flag } },
    ];
    for (let first = 0; first < FLAGS; first += 100) {
      await flags.apply(names.slice(first, first + 100).flatMap(changesOf));
    }
    const ask = createCheck();
    const replies = await Promise.all(Array.from({ length: 8 }, (_, n) => ask('/api/frontend', `userId=${n}`)));
    expect(replies.map((reply) => reply?.status)).toEqual(Array(8).fill(200));
    expect(most).toBe(2);
    for (const reply of replies) await reply?.discard?.();
  });
});

interface SilentSink extends ReplySink {
  destroyed: boolean;
}

/** The sink of a client that takes nothing. */
function silentSink(): SilentSink {
  const closed: (() => void)[] = [];
  return {
    destroyed: false,
    write: () => false,
    end: () => undefined,
    on(event: string, listener: () => void) {
      if (event === 'close') closed.push(listener);
    },
    destroy() {
      this.destroyed = true;
      for (const listener of closed.splice(0)) listener();
    },
  };
}

describe('a place itself', () => {
  const sinkOf = (write: () => boolean) => {
    const listeners: (() => void)[] = [];
    return {
      destroyed: false,
      write,
      end: () => undefined,
      destroy: jest.fn(),
      on: (event: string, listener: () => void) => event === 'drain' && listeners.push(listener),
      drain() {
        for (const listener of listeners) listener();
      },
    };
  };
  const passageOf = (admission: Admission, actor: string) => admission({ signal: undefined }, actor);

  async function* slices(closed: () => void): AsyncGenerator<string, void, void> {
    try {
      yield 'slice';
      yield 'slice';
    } finally {
      closed();
    }
  }

  async function admitted(kind: WorkKind = 'plan') {
    const admission = createAdmission();
    const passages = [passageOf(admission, 'ada'), passageOf(admission, 'grace')];
    for (const passage of passages) await passage.enter(kind);
    const closed = jest.fn();
    const [passage = fail(passages)] = passages;
    const long = textReply({ status: 200, headers: {}, body: { first: [], rest: slices(closed) } });
    return { admission, closed, reply: passage.leaveAfter(long), passage };
  }

  const writing = (reply: FlagsReply, sink: ReplySink) =>
    void toFlagsReply(reply, { request: { method: 'GET' }, headers: {}, onLateError: fail }).stream?.(sink);

  it('is kept until a long reply is written, or discarded', async () => {
    const { reply, closed, passage } = await admitted();
    await reply.stream?.(sinkOf(() => passage.isInside()));
    expect(passage.isInside()).toBe(false);
    expect(closed).toHaveBeenCalledTimes(1);
    const other = await admitted();
    await other.reply.discard?.();
    expect(other.passage.isInside()).toBe(false);
  });

  it('of an evaluation is free while its client reads the reply', async () => {
    const { admission } = await admitted('evaluation');
    const third = passageOf(admission, 'third');
    await third.enter('evaluation');
    expect(third.isInside()).toBe(true);
  });

  it('is taken from a client that reads nothing for 5 seconds while others wait', async () => {
    jest.useFakeTimers();
    try {
      const { admission, reply } = await admitted();
      const sink = sinkOf(() => false);
      writing(reply, sink);
      await jest.advanceTimersByTimeAsync(60_000);
      expect(sink.destroy).not.toHaveBeenCalled();
      sink.drain();
      await jest.advanceTimersByTimeAsync(4000);
      void passageOf(admission, 'third').enter('plan');
      await jest.advanceTimersByTimeAsync(900);
      expect(sink.destroy).not.toHaveBeenCalled();
      await jest.advanceTimersByTimeAsync(300);
      expect(sink.destroy).toHaveBeenCalledTimes(1);
    } finally {
      jest.useRealTimers();
    }
  });

  it('is taken from a client that reads for two minutes, while others wait', async () => {
    jest.useFakeTimers();
    try {
      const { admission, reply } = await admitted();
      const sink = sinkOf(() => false);
      writing(reply, sink);
      await jest.advanceTimersByTimeAsync(600_000);
      sink.drain();
      expect(sink.destroy).not.toHaveBeenCalled();
      void passageOf(admission, 'third').enter('plan');
      await jest.advanceTimersByTimeAsync(1000);
      expect(sink.destroy).toHaveBeenCalledTimes(1);
    } finally {
      jest.useRealTimers();
    }
  });

  it('is not free for a third change while two long replies to changes are unread', async () => {
    const admission = createAdmission();
    const passages = ['ada', 'ada', 'ada'].map((actor) => passageOf(admission, actor));
    let isThird = false;
    const [first = fail(passages), second = fail(passages), third = fail(passages)] = passages;
    await first.enter('change');
    first.commit();
    await second.enter('change');
    second.commit();
    const entering = third.enter('change').then(() => {
      isThird = true;
    });
    await new Promise(setImmediate);
    expect(isThird).toBe(false);
    first.leave();
    await entering;
  });
});

function fail(error: unknown): never {
  throw error;
}
