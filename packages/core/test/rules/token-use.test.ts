import { until } from '../../../../test/until.js';
import { createFlags, type Flags, FlagsError, memoryStorage } from '../../src/index.js';
import { faultyStorage } from '../../src/testing.js';
import { onEveryStorage } from './on-every-storage.js';
import { HOUR, MINUTE, settableClock } from './settable-clock.js';

const WEB = { name: 'web', kind: 'client' } as const;

/** Returns when the tokens were last used, in the order of their creation. */
async function usesOf(flags: Flags): Promise<readonly (string | null)[]> {
  return (await flags.listTokens()).map(({ lastUsedAt }) => lastUsedAt);
}

onEveryStorage((start, share) => {
  describe('the last use of a token', () => {
    it('is null until a caller uses the token, and recorded when the engine closes', async () => {
      const clock = settableClock();
      const startNode = await share();
      const flags = await startNode({ now: clock.now, usageInterval: 0 });
      const { secret } = await flags.createToken(WEB);
      clock.advance(MINUTE);
      await flags.createToken({ ...WEB, name: 'unused' });
      await flags.verifyToken(secret);
      await flags.verifyToken('unknown');
      expect(await usesOf(flags)).toEqual([null, null]);
      await flags.close();
      const later = await startNode({ now: clock.now });
      expect(await usesOf(later)).toEqual([clock.text(), null]);
      const page = await later.listTokens({ limit: 1 });
      expect(page.items).toMatchObject([{ name: 'web', lastUsedAt: clock.text() }]);
    });

    it('is recorded in time, without an event, a new revision or a changed evaluation', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now, usageInterval: 1 });
      const { token, secret } = await flags.createToken(WEB);
      const before = { events: await flags.listEvents(), state: await flags.exportDefinitions() };
      await flags.verifyToken(secret);
      await until(async () => (await usesOf(flags))[0] === clock.text());
      expect({ events: await flags.listEvents(), state: await flags.exportDefinitions() }).toEqual(before);
      expect(await flags.verifyToken(secret)).toEqual(token);
      await flags.deleteToken({ token: token.id }, { ifRevision: 1 });
    });

    it('is accurate to the hour, whichever node records it', async () => {
      const clock = settableClock();
      const startNode = await share();
      const node = () => startNode({ now: clock.now, usageInterval: 0 });
      const [one, other, watcher] = [await node(), await node(), await node()];
      const { secret } = await one.createToken(WEB);
      const first = clock.text();
      await one.verifyToken(secret);
      clock.advance(10 * MINUTE);
      await other.verifyToken(secret);
      await one.close();
      await other.close();
      expect(await usesOf(watcher)).toEqual([first]);
      clock.advance(HOUR);
      await watcher.verifyToken(secret);
      await watcher.close();
      expect(await usesOf(await node())).toEqual([clock.text()]);
    });

    it('of many tokens is recorded by several nodes at once', async () => {
      const clock = settableClock();
      const startNode = await share();
      const node = () => startNode({ now: clock.now, usageInterval: 0 });
      const nodes = [await node(), await node(), await node()];
      const created = await Promise.all(
        Array.from({ length: 230 }, (_, index) => nodes[0]?.createToken({ ...WEB, name: `token ${index}` })),
      );
      await Promise.all(nodes.flatMap((flags) => created.map((token) => flags.verifyToken(token?.secret ?? ''))));
      await Promise.all(nodes.map((flags) => flags.close()));
      expect(new Set(await usesOf(await node()))).toEqual(new Set([clock.text()]));
    });

    it('goes with the token, and does not come back', async () => {
      const startNode = await share();
      const [flags, other] = [await startNode({ usageInterval: 1 }), await startNode({ usageInterval: 0 })];
      await flags.createProject({ id: 'shop', name: 'Shop' });
      const { token, secret } = await flags.createToken(WEB);
      const inShop = await flags.createToken({ ...WEB, name: 'shop', project: 'shop' });
      await Promise.all([secret, inShop.secret].map((one) => flags.verifyToken(one)));
      await until(async () => (await usesOf(flags)).every((use) => use !== null));
      await Promise.all([secret, inShop.secret].map((one) => other.verifyToken(one)));
      await flags.deleteToken({ token: token.id });
      await flags.deleteProject({ project: 'shop' });
      await other.close();
      expect(await flags.listTokens()).toEqual([]);
    });
  });
});

describe('the recording of token uses', () => {
  const clock = settableClock();

  async function startOnFaulty(usageInterval: number) {
    const errors: unknown[] = [];
    const storage = faultyStorage(memoryStorage());
    const onError = (error: unknown) => void errors.push(error);
    const flags = await createFlags({ storage, usageInterval, pollInterval: 0, now: clock.now, onError });
    const { secret } = await flags.createToken(WEB);
    const commits = () => storage.calls.filter(({ method }) => method === 'commit').length;
    return { flags, storage, secret, errors, commits };
  }

  it('writes once an hour, however often a token is used', async () => {
    const { flags, secret, commits } = await startOnFaulty(1);
    const before = commits();
    for (let hour = 1; hour <= 2; hour++) {
      for (let use = 0; use < 5; use++) await flags.verifyToken(secret);
      await until(async () => (await usesOf(flags))[0] === clock.text());
      for (let use = 0; use < 5; use++) await flags.verifyToken(secret);
      clock.advance(HOUR);
    }
    await flags.close();
    expect(commits() - before).toBe(2);
  });

  it('leaves nothing of a token that was deleted before or after its use was written', async () => {
    const { flags, storage, secret } = await startOnFaulty(0);
    const other = await createFlags({ storage: { ...storage, close: async () => undefined }, usageInterval: 0 });
    const uses = () => storage.list({ kind: 'token-use', part: 'body' });
    const [token] = await flags.listTokens();
    await flags.verifyToken(secret);
    await other.verifyToken(secret);
    await other.close();
    expect(await uses()).toHaveLength(1);
    await flags.deleteToken({ token: token?.id ?? '' });
    expect(await uses()).toEqual([]);
    const late = await createFlags({ storage: { ...storage, close: async () => undefined }, usageInterval: 0 });
    const created = await late.createToken(WEB);
    await late.verifyToken(created.secret);
    await flags.deleteToken({ token: created.token.id });
    await late.close();
    expect(await uses()).toEqual([]);
    await flags.close();
  });

  it('admits the caller, reports once and tries again while the storage fails', async () => {
    const { flags, storage, secret, errors } = await startOnFaulty(1);
    const error = new FlagsError('storage_busy', 'locked');
    storage.inject({ method: 'commit', error });
    await flags.verifyToken(secret);
    await until(() => errors.length > 0);
    const tries = storage.calls.length;
    expect(await flags.verifyToken(secret)).toMatchObject(WEB);
    await until(() => storage.calls.slice(tries).some(({ method }) => method === 'commit'));
    storage.heal();
    await flags.verifyToken(secret);
    await until(async () => (await usesOf(flags))[0] === clock.text());
    expect(errors).toEqual([error]);
    await flags.close();
  });
});
