import type { NewToken } from '@flags/core';
import { until } from '../../../test/until.js';
import { type EventClient, listen as listenToStream } from '../../http/test/client/event-client.js';
import { createOn, endAll, follow, type Listening, PRODUCTION, type Root, serve, startRoot } from './servers.js';

const EVALUATE = '/ofrep/v1/evaluate/flags';
const HOUR = 3_600_000;

let root: Root;
const streams: EventClient[] = [];
beforeEach(async () => {
  root = await startRoot();
  await createOn(root.flags, 'checkout');
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.leave();
  await endAll();
  await root.end();
});

async function newToken(input: Partial<NewToken> = {}): Promise<string> {
  const name = `page ${Math.random()}`;
  return (await root.flags.tokens.create({ name, kind: 'frontend', environment: 'production', ...input })).secret;
}

/** The address of the stream, without its origin, that a page with this token gets. */
async function addressAt({ url }: Pick<Listening, 'url'>, authorization: string): Promise<string> {
  const headers = { authorization, 'content-type': 'application/json' };
  const response = await fetch(`${url}${EVALUATE}`, { method: 'POST', headers, body: '{}' });
  expect(response.status).toBe(200);
  const body = (await response.json()) as { eventStreams: { endpoint: { requestUri: string } }[] };
  return body.eventStreams[0]?.endpoint.requestUri ?? '';
}

async function open({ url }: Pick<Listening, 'url'>, address: string): Promise<EventClient> {
  const stream = await listenToStream(`${url}${address}`);
  streams.push(stream);
  return stream;
}

describe('the address of an event stream of a follower', () => {
  it('is the same at followers with the same token, which accept it, as their server does', async () => {
    const served = [await serve(await follow(root)), await serve(await follow(root))] as const;
    const page = await newToken();
    const address = await addressAt(served[0], page);
    // The second follower has not verified the token of the page.
    for (const place of [...served, root]) expect((await open(place, address)).status).toBe(200);
    expect(await addressAt(served[1], page)).toBe(address);
    // A follower that has verified the token accepts what the server itself has signed.
    expect((await open(served[0], await addressAt(root, page))).status).toBe(200);
    const [stream] = streams;
    await until(() => stream?.messages.length === 1);
    await root.flags.disable({ ...PRODUCTION, flag: 'checkout' });
    await until(() => (stream?.messages.length ?? 0) >= 2);
  });

  it('is refused where its token is outside of the scope of the follower, and at followers with another token', async () => {
    await root.flags.createProject({ id: 'shop', name: 'Shop' });
    const wide = await serve(await follow(root));
    const address = await addressAt(wide, await newToken());
    const other = await newToken({ kind: 'client' });
    const narrow = await newToken({ kind: 'client', project: 'shop' });
    for (const token of [other, narrow]) {
      const served = await serve(await follow({ url: root.url, token }));
      expect((await open(served, address)).status).toBe(401);
    }
  });

  it('ends with a deleted token where it was verified, and elsewhere with its window', async () => {
    let time = 12 * HOUR * 41_000;
    const conditions = { now: () => time };
    const served = [
      await serve(await follow(root, {}, conditions), 0, { auth: 'token', heartbeatInterval: 50 }),
      await serve(await follow(root, {}, conditions), 0, { auth: 'token', heartbeatInterval: 50 }),
    ] as const;
    const page = await newToken();
    const address = await addressAt(served[0], page);
    const [verified, other] = [await open(served[0], address), await open(served[1], address)];
    await root.flags.tokens.delete({ token: page });
    await until(() => verified.hasEnded());
    expect((await open(served[0], address)).status).toBe(401);
    expect((await open(served[1], address)).status).toBe(200);
    expect(other.hasEnded()).toBe(false);
    time += 24 * HOUR;
    await until(() => other.hasEnded());
    expect((await open(served[1], address)).status).toBe(401);
  });
});
