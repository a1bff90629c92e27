import { defineFlags, isFlagsError, memoryStorage, openFlags } from '@flags/core';
import { extent } from '../../../test/extent.js';
import { until } from '../../../test/until.js';
import { MEMORY, STORAGES, type StorageKind } from '../../core/test/storage-kinds.js';
import { followFlags } from '../src/index.js';
import { readOptions } from '../src/options.js';
import {
  createOn,
  endAll,
  follow,
  type Listening,
  listen,
  PRODUCTION,
  type Root,
  seenErrors,
  serve,
  startRoot,
  untilEnabled,
} from './servers.js';

let root: Root;
function rootOn(kind: StorageKind): void {
  beforeEach(async () => {
    root = await startRoot({}, kind);
  });
  afterEach(async () => {
    await endAll();
    await root.end();
  });
}

/** The code of a rejection. */
async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  return isFlagsError(error) ? error.code : error;
}

describe.each(STORAGES)('following by the stream of a root on $name', (kind) => {
  rootOn(kind);

  it('has the flags of the server, and every change of them', async () => {
    await createOn(root.flags, 'checkout');
    const follower = await follow(root);
    expect(follower.isEnabled('checkout')).toBe(true);
    expect(follower.status()).toMatchObject({
      state: 'current',
      source: 'upstream',
      upstream: root.url,
      connected: true,
    });
    expect(follower.settings.environment).toBe('production');

    const changes: unknown[] = [];
    follower.onConfigurationChange((change) => changes.push(change));
    await root.flags.disable({ ...PRODUCTION, flag: 'checkout' });
    await untilEnabled(follower, 'checkout', false);
    expect(changes).toEqual([{ environment: 'production', flags: ['checkout'], segments: [] }]);

    await createOn(root.flags, 'banner');
    await untilEnabled(follower, 'banner');
    await root.flags.archiveFlag({ ...PRODUCTION, flag: 'banner' });
    await untilEnabled(follower, 'banner', false);
    expect(follower.configuration().flags.map(({ name }) => name)).toEqual(['checkout']);
  });

  it('keeps the objects of flags that stay equal', async () => {
    await createOn(root.flags, 'checkout');
    await createOn(root.flags, 'banner');
    const follower = await follow(root);
    const before = follower.configuration();
    await follower.refresh();
    expect(follower.configuration()).toBe(before);
    await root.flags.disable({ ...PRODUCTION, flag: 'checkout' });
    await untilEnabled(follower, 'checkout', false);
    expect(follower.configuration().flags[0]).toBe(before.flags[0]);
    expect(follower.configuration().flags[1]).not.toBe(before.flags[1]);
  });

  it('changes segments with the flags that use them', async () => {
    const { id } = await root.flags.segments.create({
      name: 'beta',
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }],
    });
    await root.flags.createFlag(PRODUCTION, { name: 'checkout' });
    await root.flags.addStrategy({ ...PRODUCTION, flag: 'checkout' }, { name: 'default', segments: [id] });
    await root.flags.enable({ ...PRODUCTION, flag: 'checkout' });
    const follower = await follow(root);
    expect(follower.isEnabled('checkout', { userId: '7' })).toBe(true);
    expect(follower.isEnabled('checkout', { userId: '8' })).toBe(false);
    await root.flags.segments.update(
      { segment: id },
      { constraints: [{ contextName: 'userId', operator: 'IN', values: ['8'] }] },
    );
    await until(() => follower.isEnabled('checkout', { userId: '8' }));
    expect(follower.isEnabled('checkout', { userId: '7' })).toBe(false);
  });

  it('keeps the last flags while the server is away, and catches up afterwards', async () => {
    await createOn(root.flags, 'checkout');
    const follower = await follow(root);
    await root.stop();
    await until(() => follower.status().state === 'stale' && follower.status().error !== undefined);
    expect(follower.isEnabled('checkout')).toBe(true);
    expect(seenErrors).toHaveLength(1);

    await root.flags.disable({ ...PRODUCTION, flag: 'checkout' });
    await serve(root.flags, root.port);
    await untilEnabled(follower, 'checkout', false);
    await until(() => follower.status().state === 'current');
    expect(follower.status()).not.toHaveProperty('error');
  });

  it(
    'never shows a change set in halves',
    async () => {
      const [flags, sets, readers] = extent({ short: [50, 10, 8], full: [500, 200, 40] });
      const names = Array.from({ length: flags }, (_, at) => `flag-${at}`);
      for (const name of names) await createOn(root.flags, name);
      const followers = await Promise.all(Array.from({ length: readers }, () => follow(root)));
      let halves = 0;
      const stops = followers.map((follower) =>
        follower.onConfigurationChange(() => {
          const mine = follower.forContext({ userId: '7' });
          const on = names.filter((name) => mine.isEnabled(name)).length;
          if (on !== 0 && on !== flags) halves += 1;
        }),
      );
      for (let set = 0; set < sets; set++) {
        const operation = set % 2 === 0 ? ('disable' as const) : ('enable' as const);
        await root.flags.apply(names.map((flag) => ({ op: operation, ref: { ...PRODUCTION, flag } })));
        const seen = followers[set % readers];
        if (seen) await untilEnabled(seen, 'flag-0', set % 2 === 1);
      }
      for (const follower of followers) await untilEnabled(follower, names.at(-1) ?? '', sets % 2 === 0);
      for (const stop of stops) stop();
      expect(halves).toBe(0);
    },
    extent({ short: 60_000, full: 900_000 }),
  );

  it('loads everything on refresh, also while it is connected', async () => {
    const follower = await follow(root);
    await createOn(root.flags, 'checkout');
    const status = await follower.refresh();
    expect(status.state).toBe('current');
    expect(follower.isEnabled('checkout')).toBe(true);
  });

  it('goes back with a server whose history went back', async () => {
    await createOn(root.flags, 'checkout');
    const follower = await follow(root);
    await root.stop();
    const restored = await openFlags({ storage: memoryStorage() });
    // The token of a restored backup has the same secret.
    await restored.tokens.create({ name: 'follower', kind: 'client', environment: 'production', secret: root.token });
    await createOn(restored, 'older');
    const again = await serve(restored, root.port);
    await untilEnabled(follower, 'older');
    expect(follower.isEnabled('checkout')).toBe(false);
    await again.stop();
    await restored.close();
  });
});

describe('the start', () => {
  rootOn(MEMORY);

  it('refuses what cannot become better by waiting', async () => {
    const admin = await root.flags.tokens.create({ name: 'admin', kind: 'admin' });
    const frontend = await root.flags.tokens.create({ name: 'page', kind: 'frontend' });
    const from = (token: string) => codeOf(follow({ url: root.url, token }));
    expect(await from('unknown:production.0123456789')).toBe('unauthenticated');
    expect(await from(admin.secret)).toBe('forbidden');
    expect(await from(frontend.secret)).toBe('forbidden');
    // The rejection says it.
    expect(seenErrors).toEqual([]);
  });

  it('waits for a server that comes late, and rejects without one', async () => {
    await root.stop();
    expect(await codeOf(follow(root, { startTimeout: 50 }))).toBe('upstream_unavailable');
    const starting = follow(root, { startTimeout: 20_000 });
    await serve(root.flags, root.port);
    expect((await starting).status().state).toBe('current');
  });

  it('resolves at once with startTimeout 0, without flags', async () => {
    await createOn(root.flags, 'checkout');
    await root.stop();
    const follower = await follow(root, { startTimeout: 0 });
    expect(follower.isEnabled('checkout', {}, { fallback: true })).toBe(true);
    expect(follower.status()).toMatchObject({
      state: 'stale',
      connected: false,
      checkedAt: '1970-01-01T00:00:00.000Z',
    });
    expect(() => follower.following.assertServing()).toThrow(expect.objectContaining({ code: 'upstream_unavailable' }));
    await serve(root.flags, root.port);
    await untilEnabled(follower, 'checkout');
  });

  it.each<[string, object, RegExp]>([
    ['nothing', {}, /url is required/],
    ['a misspelt option', { url: 'http://localhost', token: 'x', tokn: 1 }, /did you mean token/],
    ['no token', { url: 'http://localhost', token: undefined }, /token is required/],
    ['plain http to a public address', { url: 'http://flags.example.com', token: 'x' }, /must begin with https/],
    ['plain http to a public IP', { url: 'http://8.8.8.8', token: 'x' }, /must begin with https/],
    ['another protocol', { url: 'ftp://localhost', token: 'x' }, /must be an address/],
    ['a user in the address', { url: 'http://me:secret@localhost', token: 'x' }, /no user/],
    ['a poll every moment', { url: 'http://localhost', token: 'x', pollInterval: 1 }, /pollInterval/],
    ['a schema of another form', { url: 'http://localhost', token: 'x', schema: {} }, /defineFlags/],
    [
      'a listener that is not a function',
      { url: 'http://localhost', token: 'x', onError: 1 },
      /onError must be a function/,
    ],
  ])('refuses %s', async (_, options, message) => {
    await expect(followFlags(options as never)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(message),
    });
  });

  it.each([
    'http://10.1.2.3',
    'http://192.168.0.1',
    'http://[::1]',
    'http://[fd00::1]',
    'http://flags',
    'http://127.0.0.1',
  ])('allows plain http to %s', (url) => {
    expect(readOptions({ url, token: 'x' }).url).toBe(url);
  });

  it('has typed evaluation with a schema, whose properties stand beside userId', async () => {
    await root.flags.createFlag(PRODUCTION, { name: 'checkout' });
    const constraints = [{ contextName: 'plan', operator: 'IN', values: ['pro'] }] as const;
    await root.flags.addStrategy({ ...PRODUCTION, flag: 'checkout' }, { name: 'default', constraints });
    await root.flags.enable({ ...PRODUCTION, flag: 'checkout' });
    const schema = defineFlags({ checkout: {} }, { environments: ['production'], context: { plan: ['free', 'pro'] } });
    const follower = await followFlags({ url: root.url, token: root.token, schema });
    expect(follower.isEnabled('checkout', { plan: 'pro' })).toBe(true);
    // @ts-expect-error the schema does not declare this flag
    follower.isEnabled('chekout');
    await follower.close();
  });
});

describe('following by polls', () => {
  rootOn(MEMORY);

  /** Passes on what it gets, without a stream. */
  function withoutStream(port: number, seen: string[], stream: () => boolean): Promise<Listening> {
    return listen(async (request, response) => {
      seen.push(`${request.method} ${request.url}`);
      if (request.url === '/api/client/streaming' && !stream()) return void response.writeHead(404).end();
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { host: _, connection: __, ...headers } = request.headers as Record<string, string>;
      const answer = await fetch(`http://127.0.0.1:${port}${request.url}`, {
        method: request.method ?? 'GET',
        headers,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      });
      const { 'content-encoding': ___, ...kept } = Object.fromEntries(answer.headers);
      response.writeHead(answer.status, kept);
      for await (const chunk of answer.body ?? []) response.write(chunk);
      response.end();
    });
  }

  it('polls a server without a stream, and changes to its stream later', async () => {
    await createOn(root.flags, 'checkout');
    const seen: string[] = [];
    let hasStream = false;
    const proxy = await withoutStream(root.port, seen, () => hasStream);
    const follower = await follow({ ...root, url: proxy.url }, { pollInterval: 100 }, { times: { streamRetry: 400 } });
    expect(follower.status()).toMatchObject({ state: 'current', connected: true });
    await root.flags.disable({ ...PRODUCTION, flag: 'checkout' });
    await untilEnabled(follower, 'checkout', false);
    expect(seen.filter((line) => line.endsWith('/features')).length).toBeGreaterThan(1);
    hasStream = true;
    await until(() => seen.filter((line) => line.endsWith('/streaming')).length > 1);
    await root.flags.enable({ ...PRODUCTION, flag: 'checkout' });
    await untilEnabled(follower, 'checkout');
  });
});
