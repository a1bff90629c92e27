import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { EvaluationProblem } from '@flags/core';
import { extent, inFull } from '../../../test/extent.js';
import { until } from '../../../test/until.js';
import type { FollowerOptions } from '../src/index.js';
import type { Times } from '../src/times.js';
import { closeAll, endAll, follow, type Listening, listen, seenErrors, serve } from './servers.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

const TOKEN = 'default:production.0123456789abcdef';

let upstream: Listening;
/** What the server does with the stream and with polls: the first handlers once, the last one from then on. */
let streams: Handler[];
let polls: Handler[];
/** The connections of the stream, by the id that each resumes from. */
let resumed: (string | undefined)[];
/** Whether the server answers nothing more. */
let hangs: boolean;
/** The paths of requests that have not ended. */
let open: string[];

beforeEach(async () => {
  [streams, polls, resumed, open, hangs] = [[], [], [], [], false];
  upstream = await listen((request, response) => {
    open.push(request.url ?? '');
    response.on('close', () => open.splice(open.indexOf(request.url ?? ''), 1));
    if (hangs) return;
    const next = (handlers: Handler[]) => (handlers.length > 1 ? handlers.shift() : handlers[0]);
    if (request.url === '/edge/validate') {
      const token = { token: TOKEN, type: 'client', projects: ['*'] };
      return void response.writeHead(200).end(JSON.stringify({ tokens: [token] }));
    }
    if (request.url === '/api/client/streaming') {
      resumed.push(request.headers['last-event-id'] as string | undefined);
      return void next(streams)?.(request, response);
    }
    if (request.url === '/api/client/features') return void next(polls)?.(request, response);
    response.writeHead(404).end();
  });
});
afterEach(endAll);

function start(options: Partial<FollowerOptions> = {}, times: Partial<Times> = {}) {
  return follow({ url: upstream.url, token: TOKEN }, options, { times });
}

const flag = (name: string, enabled = true) => ({ name, enabled, strategies: [], variants: [] });
const message = (event: string, id: string, events: unknown) =>
  `id:${id}\nevent:${event}\ndata:${typeof events === 'string' ? events : JSON.stringify({ events })}\n\n`;
const everything = (id: string, ...features: object[]) =>
  message('unleash-connected', id, [{ type: 'hydration', eventId: 1, features, segments: [] }]);
const update = (id: string, ...features: object[]) =>
  message(
    'unleash-updated',
    id,
    features.map((feature) => ({ type: 'feature-updated', feature })),
  );

/** Sends texts, and keeps the stream open. */
function stream(...texts: string[]): Handler {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const text of texts) response.write(text);
  };
}

const json =
  (body: unknown): Handler =>
  (_, response) =>
    response.writeHead(200).end(JSON.stringify(body));

describe('a message that cannot be applied', () => {
  it.each<[string, string]>([
    ['is no JSON', message('unleash-updated', 'ab-2', '{"events":')],
    ['has no list of events', message('unleash-updated', 'ab-2', '{"events":{}}')],
    ['has an unknown event', message('unleash-updated', 'ab-2', [{ type: 'feature-renamed' }])],
    ['is of an unknown kind', message('unleash-surprise', 'ab-2', [])],
    ['comes twice', everything('ab-1', flag('a')) + update('ab-2', flag('b')) + update('ab-2', flag('c'))],
    ['leaves one out', update('ab-3', flag('c'))],
    ['is of another channel', update('cd-2', flag('c'))],
    ['has no id', 'event:unleash-updated\ndata:{"events":[]}\n\n'],
    ['has no list of flags', message('unleash-connected', 'ab-2', [{ type: 'hydration', features: {} }])],
  ])('makes it load everything again if it %s, and changes nothing', async (_, text) => {
    let sent = (): void => undefined;
    streams = [
      (request, response) => {
        stream(everything('ab-1', flag('a')))(request, response);
        sent = () => void response.write(text);
      },
      stream(everything('ef-1', flag('a'), flag('new'))),
    ];
    const follower = await start();
    expect(follower.isEnabled('a')).toBe(true);
    const seen: (readonly string[])[] = [];
    follower.onConfigurationChange(({ flags }) => seen.push(flags));
    sent();
    await until(() => follower.isEnabled('new'));
    expect(resumed).toEqual([undefined, undefined]);
    expect(seen.flat()).not.toContain('c');
    expect(follower.isEnabled('a')).toBe(true);
    expect(seenErrors).toHaveLength(1);
  });
});

it('resumes after a connection that was cut within a message', async () => {
  const half = update('ab-2', flag('b'));
  let cut: () => void = () => undefined;
  streams = [
    (request, response) => {
      stream(everything('ab-1', flag('a')), half.slice(0, half.length / 2))(request, response);
      cut = () => response.destroy();
    },
    stream(half, update('ab-3', flag('c'))),
  ];
  const follower = await start();
  cut();
  await until(() => follower.isEnabled('c'));
  expect(follower.isEnabled('b')).toBe(true);
  expect(resumed).toEqual([undefined, 'ab-1']);
});

it('reads a message that arrives byte by byte', async () => {
  const text = everything('ab-1', flag('ä')) + update('ab-2', flag('ö'));
  streams = [
    async (request, response) => {
      stream()(request, response);
      for (const byte of Buffer.from(text)) {
        response.write(Buffer.from([byte]));
        await new Promise(setImmediate);
      }
    },
  ];
  const follower = await start();
  await until(() => follower.isEnabled('ö'));
  expect(follower.isEnabled('ä')).toBe(true);
});

it('switches off and reports a flag that cannot be read, and serves the others', async () => {
  const problems: EvaluationProblem[] = [];
  streams = [
    stream(
      everything(
        'ab-1',
        flag('good'),
        { ...flag('broken'), strategies: 'all' },
        { ...flag('odd'), strategies: [{ name: 'default', constraints: [null] }] },
        { enabled: true },
        null as never,
        { ...flag('__proto__'), enabled: 'yes' },
      ),
    ),
  ];
  const follower = await start({ onProblem: (problem) => problems.push(problem) });
  const on = ['good', 'broken', 'odd', '__proto__'].map((name) => follower.isEnabled(name));
  expect(on).toEqual([true, false, false, false]);
  const broken = problems.filter(({ code }) => code === 'broken_flag').map(({ flag: name }) => name);
  expect(broken).toEqual(['broken', 'odd', undefined, '__proto__']);
  const served = await serve(follower);
  const response = await fetch(`${served.url}/api/client/features`, { headers: { authorization: TOKEN } });
  expect(response.status).toBe(200);
  const { features } = (await response.json()) as { features: { name: string; enabled: boolean }[] };
  expect(features.map(({ name, enabled }) => [name, enabled])).toEqual([
    ['__proto__', false],
    ['broken', false],
    ['good', true],
    ['odd', false],
  ]);
});

describe('the bounds', () => {
  /** Sends garbage until the connection ends. Returns the bytes that it could send. */
  const garbage = (start: string, piece: string): { readonly handle: Handler; readonly sent: () => number } => {
    let sent = 0;
    const handle: Handler = async (request, response) => {
      stream(start)(request, response);
      const limit = extent({ short: 16, full: 1024 }) * 1024 * 1024;
      while (!response.destroyed && sent < limit) {
        sent += piece.length;
        if (!response.write(piece))
          await Promise.race([new Promise((resolve) => response.once('drain', resolve)), setTimeout(100)]);
      }
    };
    return { handle, sent: () => sent };
  };

  it.each([
    ['a line without an end', '', 'x'.repeat(64 * 1024)],
    ['a message without an end', 'data:', `${'x'.repeat(1000)}\ndata:`.repeat(64)],
  ])('ends a stream that sends %s', async (_, before, piece) => {
    const { handle, sent } = garbage(everything('ab-1', flag('a')) + before, piece);
    streams = [handle, stream(everything('cd-1', flag('a'), flag('b')))];
    const follower = await start({ maxBytes: 1024 * 1024 });
    await until(() => follower.isEnabled('b'));
    expect(follower.isEnabled('a')).toBe(true);
    // What is on the way between the sockets comes on top.
    expect(sent()).toBeLessThan(12 * 1024 * 1024);
    expect(String(seenErrors[0])).toContain('maxBytes');
  });

  it('refuses a document that is too long, and keeps the last flags', async () => {
    streams = [(_, response) => response.writeHead(404).end()];
    polls = [
      json({ features: [flag('a')] }),
      json({ features: [flag('b'), { ...flag('c'), description: 'x'.repeat(200_000) }] }),
      json({ features: [flag('d')] }),
    ];
    const follower = await start({ maxBytes: 100_000, pollInterval: 100 });
    await until(() => follower.status().error !== undefined);
    expect(follower.isEnabled('a')).toBe(true);
    expect(follower.isEnabled('b')).toBe(false);
    await until(() => follower.isEnabled('d'));
  });
});

describe('a connection that does not work', () => {
  it('is ended when it is silent for two heartbeats', async () => {
    streams = [stream(everything('ab-1', flag('a'))), stream(everything('cd-1', flag('b')))];
    const follower = await start({}, { silence: 100 });
    await until(() => follower.isEnabled('b'));
    expect(resumed.slice(0, 2)).toEqual([undefined, undefined]);
  });

  it('gives way to polls when something on the way holds the stream back', async () => {
    for (const held of [stream(), () => undefined]) {
      streams = [held];
      polls = [json({ features: [flag('a')] }), json({ features: [flag('b')] })];
      const follower = await start({ pollInterval: 100 }, { firstMessage: 100 });
      expect(follower.isEnabled('a')).toBe(true);
      await until(() => follower.isEnabled('b'));
      await closeAll();
    }
  });

  it('polls, and asks for the stream soon again, when the stream answers 503', async () => {
    streams = [(_, response) => response.writeHead(503).end(), stream(everything('ab-1', flag('b')))];
    polls = [json({ features: [flag('a')] })];
    const follower = await start({ pollInterval: 100 });
    expect(follower.isEnabled('a')).toBe(true);
    await until(() => follower.isEnabled('b'));
  });

  it('follows no redirect', async () => {
    const elsewhere: string[] = [];
    const other = await listen((request, response) => {
      elsewhere.push(request.headers.authorization ?? '');
      response.end();
    });
    streams = [(_, response) => response.writeHead(302, { location: other.url }).end()];
    const follower = await start({ startTimeout: 0 });
    await until(() => String(follower.status().error).includes('redirect'));
    expect(elsewhere).toEqual([]);
  });

  it('does not hold up close when the server hangs: only the last counts have a moment', async () => {
    streams = [stream(everything('ab-1', flag('a')))];
    const long = { request: 1e6, firstMessage: 1e6, silence: 1e6 };
    const connected = await start({}, { ...long, close: 100 });
    connected.isEnabled('a');
    hangs = true;
    const starting = await start({ startTimeout: 0 }, { ...long, close: 1e6 });
    const question = connected.verifyToken('default:production.unknown');
    await until(() => open.filter((path) => path === '/edge/validate').length === 2);
    expect(open).toContain('/api/client/streaming');
    await Promise.all([
      expect(question).rejects.toMatchObject({ code: 'upstream_unavailable' }),
      connected.close(),
      starting.close(),
    ]);
    await until(() => open.length === 0);
    expect(String(seenErrors.at(-1))).toContain('the follower is closed');
  });

  it('waits as long as the server asks', async () => {
    const times: number[] = [];
    streams = [(_, response) => response.writeHead(404).end()];
    polls = [
      (_, response) => {
        times.push(performance.now());
        response.writeHead(429, { 'retry-after': '1' }).end();
      },
      (request, response) => {
        times.push(performance.now());
        json({ features: [] })(request, response);
      },
    ];
    await start();
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(990);
  });

  inFull('spreads the connections after an outage', async () => {
    streams = [stream(everything('ab-1', flag('a')))];
    const followers = await Promise.all(Array.from({ length: 30 }, () => start({}, { backoff: 2000 })));
    await upstream.stop();
    await until(() => followers.every((follower) => follower.status().error !== undefined));
    await setTimeout(1500);
    const at: number[] = [];
    await listen((request, response) => {
      if (request.url !== '/edge/validate') return void stream(everything('cd-1', flag('b')))(request, response);
      at.push(performance.now());
      response.writeHead(200).end(JSON.stringify({ tokens: [{ token: TOKEN, type: 'client', projects: ['*'] }] }));
    }, upstream.port);
    await until(() => followers.every((follower) => follower.isEnabled('b')));
    const [first = 0] = at;
    const perHalfSecond = [0, 500, 1000, 1500].map((from) =>
      at.filter((time) => time - first >= from && time - first < from + 500),
    );
    for (const some of perHalfSecond) expect(some.length).toBeLessThan(20);
  });
});
