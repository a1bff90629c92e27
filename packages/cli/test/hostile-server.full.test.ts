import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { flagsCommand } from './command-line.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let listening: Server;
let answer: Answer;
let requests: string[];
let url: string;

beforeEach(async () => {
  requests = [];
  listening = createServer((request, response) => {
    requests.push(request.url ?? '');
    answer(request, response);
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
});

afterEach(async () => {
  listening.closeAllConnections();
  await new Promise((resolve) => listening.close(resolve));
});

const json =
  (value: unknown, status = 200): Answer =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

/** Runs a command, which fails with one line. */
async function failureOf(...args: readonly string[]): Promise<string> {
  const { code, err } = await flagsCommand([...args, '--store', url, '--token', 'secret']);
  expect([args, code]).toEqual([args, 1]);
  expect(err.trimEnd().split('\n')).toHaveLength(1);
  return err.trimEnd();
}

const COMMANDS: readonly (readonly string[])[] = [
  ['list'],
  ['show', 'a'],
  ['create', 'a'],
  ['on', 'a', '--yes'],
  ['rollout', 'a', '50', '--yes'],
  ['rollout', 'a', '10,100', '--every', '1d', '--yes'],
  ['rollout', 'a', '--stop', '--yes'],
  ['rollouts'],
  ['on', 'a', '--request'],
  ['requests'],
  ['requests', 'show', 'a'],
  ['requests', 'apply', 'a', '--yes'],
  ['requests', 'withdraw', 'a', '--yes'],
  ['variants', 'a', 'x=100', '--yes'],
  ['history'],
  ['history', 'a'],
  ['undo', 'x', '--yes'],
  ['why', 'a'],
  ['tokens'],
  ['consumers'],
  ['consumers', 'reset', 'a', '--from', 'now', '--yes'],
  ['tokens', 'create', 'a'],
  ['tokens', 'delete', 'a', '--yes'],
  ['types'],
];

it.each([
  ['a text', 'flags'],
  ['null', null],
  ['a list', [[]]],
  ['members of other types', objectOf(7)],
  ['texts for lists', objectOf('flags')],
  ['lists of null', objectOf([null])],
  ['lists of empty objects', objectOf([{}])],
])('says in one line that it cannot read %s', async (_name, value) => {
  answer = json(value);
  for (const args of COMMANDS) {
    const { code, err } = await flagsCommand([...args, '--store', url, '--token', 'secret']);
    expect([args, err.trimEnd().split('\n').length]).toEqual([args, 1]);
    expect(err).not.toMatch(/\n +at /);
    expect([args, [0, 1, 64].includes(code)]).toEqual([args, true]);
  }
  expect(await failureOf('why', 'a')).toMatch(
    /^http:\S+ sent a reply that this command cannot read \(.+\)\. Is it the flags API, in a release that this command supports/,
  );
});

/** An object with every member that commands read, of one value. */
function objectOf(value: unknown): object {
  const names =
    'features total environments tokens changes documents events projects flags segments strategies consumers ' +
    'changeRequests rollouts approvals approval effects';
  return Object.fromEntries(names.split(' ').map((name) => [name, value]));
}

it.each([
  ['no object', null],
  ['members of other types', { code: 7, message: ['x'], details: 'none' }],
  ['details of other types', { code: 'x', message: 'Refused.', details: [] }],
])('reads an error with %s', async (_name, value) => {
  answer = json(value, 422);
  expect(await failureOf('list')).toMatch(/^(The server answered 422|Refused)\.$/);
});

it('shortens the texts of an error, and keeps them in their lines', async () => {
  const details = Array.from({ length: 100_000 }, () => ({ path: '/a\nb', message: 'x'.repeat(10) }));
  answer = json({ code: 'x', message: `first\nsecond ${'y'.repeat(100_000)}`, details }, 422);
  const { err } = await flagsCommand(['list', '--store', url]);
  expect(err.length).toBeLessThan(10_000);
  expect(err).toMatch(/^first second y+\n {2}a b x{10}\n/);
});

it('stops if a history repeats its pages, or has only empty ones', async () => {
  answer = json({ changes: [], next: 'again' });
  expect(await failureOf('history')).toMatch(/sends an endless history/);
  expect(requests).toHaveLength(2);
  requests.length = 0;
  answer = (request, response) => json({ changes: [], next: `${requests.length}` })(request, response);
  expect(await failureOf('history')).toMatch(/sends an endless history/);
  expect(requests.length).toBeLessThan(510);
});

it.each(['changeRequests', 'rollouts'])('stops if the list of %s repeats its pages, or has no end', async (member) => {
  const command = member === 'rollouts' ? 'rollouts' : 'requests';
  answer = json({ [member]: [], next: 'again' });
  expect(await failureOf(command)).toMatch(/sends an endless list/);
  expect(requests).toHaveLength(2);
  answer = (request, response) => json({ [member]: [], next: `${requests.length}` })(request, response);
  expect(await failureOf(command)).toMatch(/sends an endless list/);
});

it('stops at the limit of a history whose page is larger', async () => {
  const change = { id: 'x', at: '2026-01-01', actor: 'ada', reason: null, events: [], differences: [] };
  answer = json({ changes: Array(200_000).fill(change) });
  const { code, out } = await flagsCommand(['history', '--limit', '3', '--store', url]);
  expect([code, out.trimEnd().split('\n')]).toEqual([0, Array(3).fill('2026-01-01  ada  x')]);
});

it('stops reading an endless reply', async () => {
  const piece = Buffer.alloc(1024 * 1024, ' ');
  let sent = 0;
  answer = (_request, response) => {
    const send = () => {
      do sent += 1;
      while (response.write(piece) && !response.destroyed);
    };
    response.on('drain', send);
    send();
  };
  expect(await failureOf('list')).toMatch(/sends more than 128 MiB, more than any command reads/);
  expect(sent).toBeLessThan(256);
});

it('reports an answer that was cut off', async () => {
  answer = (_request, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{', () => response.destroy());
  };
  expect(await failureOf('list')).toMatch(
    /^http:\S+ ended its reply early \(.+\)\. Check whether the command took effect\.$/,
  );
});

it('stops if an Unleash server repeats its archived flags', async () => {
  const page = Array.from({ length: 100 }, (_, index) => ({ name: `flag-${index}` }));
  const own = json({ environments: [{ name: 'production' }], strategies: [] });
  answer = (request, response) => {
    const { url: path = '' } = request;
    if (path.startsWith('/api/admin/session')) return own(request, response);
    if (path.startsWith('/api/admin/search')) return json({ features: page })(request, response);
    return json(path.startsWith('/api/admin/projects') ? { projects: [] } : {})(request, response);
  };
  expect(await failureOf('import', url, '--from', 'unleash', '--yes')).toMatch(
    /sends an endless list of archived flags/,
  );
  expect(requests.filter((path) => path.startsWith('/api/admin/search'))).toHaveLength(2);
});
