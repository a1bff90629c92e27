import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extent } from '../../../test/extent.js';
import { until } from '../../../test/until.js';
import {
  closeAll,
  createOn,
  endAll,
  follow,
  PRODUCTION,
  type Root,
  seenErrors,
  serve,
  startRoot,
  untilEnabled,
} from './servers.js';

/** Milliseconds. Far longer than a test takes. */
const NEVER = 600_000;

let root: Root;
let directory: string;
let cache: string;
beforeEach(async () => {
  root = await startRoot();
  await createOn(root.flags, 'checkout');
  directory = await mkdtemp(join(tmpdir(), 'flags-follower-'));
  cache = join(directory, 'flags.json');
});
afterEach(async () => {
  await endAll();
  await root.end();
  await rm(directory, { recursive: true, force: true });
});

it('starts from the file while the server is away, and follows it when it comes back', async () => {
  const { id } = await root.flags.segments.create({
    name: 'beta',
    constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }],
  });
  await root.flags.createFlag(PRODUCTION, { name: 'banner' });
  await root.flags.addStrategy({ ...PRODUCTION, flag: 'banner' }, { name: 'default', segments: [id] });
  await root.flags.enable({ ...PRODUCTION, flag: 'banner' });
  await root.flags.createFlag(PRODUCTION, { name: 'child' });
  await root.flags.addDependency({ project: 'default', flag: 'child' }, { flag: 'checkout' });
  const first = await follow(root, { cache });
  const expected = first.configuration();
  await first.close();
  await root.stop();

  const second = await follow(root, { cache, startTimeout: NEVER });
  expect(second.status()).toMatchObject({ state: 'stale', source: 'cache', connected: false });
  expect(Date.parse(second.status().checkedAt)).toBeGreaterThan(Date.now() - 60_000);
  expect(second.configuration().flags).toEqual(expected.flags);
  expect(second.configuration().segments).toEqual(expected.segments);
  expect(second.isEnabled('banner', { userId: '7' })).toBe(true);
  expect(second.isEnabled('banner', { userId: '8' })).toBe(false);

  await root.flags.disable({ ...PRODUCTION, flag: 'checkout' });
  await serve(root.flags, root.port);
  await untilEnabled(second, 'checkout', false);
  expect(second.status()).toMatchObject({ state: 'current', source: 'upstream' });
});

it('does not wait long for a server that does not answer', async () => {
  await (await follow(root, { cache })).close();
  await root.stop();
  const { createServer } = await import('node:net');
  const silent = createServer(() => undefined).listen(root.port, '127.0.0.1');
  const follower = await follow(
    root,
    { cache, startTimeout: NEVER },
    { times: { request: NEVER, firstMessage: NEVER } },
  );
  expect(follower.isEnabled('checkout')).toBe(true);
  await closeAll();
  silent.close();
});

it('prefers the server, also to a newer file, and rejects when the server refuses the token', async () => {
  await (await follow(root, { cache })).close();
  await root.flags.disable({ ...PRODUCTION, flag: 'checkout' });
  const times = { cachedStart: NEVER };
  const follower = await follow(root, { cache }, { times });
  expect(follower.isEnabled('checkout')).toBe(false);
  await follower.close();
  await root.flags.tokens.delete({ token: root.token });
  await expect(follow(root, { cache }, { times })).rejects.toMatchObject({ code: 'unauthenticated' });
});

it('writes the file after changes, for its owner only, and without secrets', async () => {
  const { secret } = await root.flags.tokens.create({ name: 'web', kind: 'client', environment: 'production' });
  const follower = await follow(root, { cache });
  expect(await follower.verifyToken(secret)).toBeDefined();
  await until(async () => (await readFile(cache, 'utf8').catch(() => '')).includes('client-'));
  await root.flags.createFlag(PRODUCTION, { name: 'banner' });
  await until(async () => (await readFile(cache, 'utf8')).includes('"banner"'));
  expect((await stat(cache)).mode & 0o777).toBe(0o600);
  await follower.close();
  const text = await readFile(cache, 'utf8');
  for (const hidden of [secret, root.token]) expect(text).not.toContain(hidden.split('.')[1]);
  expect(await readdir(directory)).toEqual(['flags.json']);

  // The hash admits the token while the server is away.
  await root.stop();
  const again = await follow(root, { cache });
  expect(await again.verifyToken(secret)).toMatchObject({ kind: 'client', environment: 'production' });
  await expect(again.verifyToken(`${secret}0`)).rejects.toMatchObject({ code: 'upstream_unavailable' });
});

it('ignores a file that is cut anywhere, damaged, or of another server or token', async () => {
  await (await follow(root, { cache })).close();
  const text = await readFile(cache, 'utf8');
  await root.stop();
  const start = () => follow(root, { cache, startTimeout: 1 });
  const steps = extent({ short: 40, full: text.length });
  for (let step = 0; step < steps; step++) {
    const length = Math.floor((step * text.length) / steps);
    await writeFile(cache, text.slice(0, length));
    await expect(start()).rejects.toMatchObject({ code: 'upstream_unavailable' });
  }
  expect(seenErrors.map(String).filter((message) => message.includes('is ignored'))).toHaveLength(steps);
  await writeFile(cache, text.replace('"enabled":true', '"enabled":false'));
  await expect(start()).rejects.toMatchObject({ code: 'upstream_unavailable' });
  await writeFile(cache, text);
  await expect(follow({ ...root, token: 'another' }, { cache, startTimeout: 1 })).rejects.toThrow();
  await expect(follow({ ...root, url: `${root.url}/other` }, { cache, startTimeout: 1 })).rejects.toThrow();
  expect((await start()).isEnabled('checkout')).toBe(true);
});

it('goes on without a file that cannot be written, and reports it once', async () => {
  const follower = await follow(root, { cache: join(directory, 'missing', 'flags.json') });
  await until(() => seenErrors.length > 0);
  await createOn(root.flags, 'banner');
  await untilEnabled(follower, 'banner');
  await follower.close();
  expect(seenErrors).toHaveLength(1);
  expect(String(seenErrors[0])).toContain('ENOENT');
});
