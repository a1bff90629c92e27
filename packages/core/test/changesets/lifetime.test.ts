import { createFlags } from '../../src/create-flags.js';
import type { Flags } from '../../src/index.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import type { Storage } from '../../src/storage/port.js';
import { faultyStorage } from '../../src/testing.js';

const DEFAULT = { project: 'default' };
const CLOSED = { name: 'FlagsError', code: 'closed' };

/** A real storage that writes down when a commit ends and when it is closed. */
function logging(storage: Storage): Storage & { readonly log: readonly string[] } {
  const log: string[] = [];
  return {
    ...storage,
    log,
    async commit(commit) {
      await new Promise(setImmediate);
      const result = await storage.commit(commit);
      log.push('committed');
      return result;
    },
    async close() {
      log.push('closed');
      await storage.close();
    },
  };
}

/** What is asked in memory goes on after the end. */
const EVALUATION = [
  'isEnabled',
  'getVariant',
  'getPayload',
  'forContext',
  'explain',
  'configuration',
  'recentContexts',
  'loadConfiguration',
  'projectOf',
  'status',
  'refresh',
  'onImpression',
  'onConfigurationChange',
];

/** Every operation there is, called so that it would be refused for its input if it were not for being closed. */
function everyOperation(flags: Flags): readonly (readonly [name: string, call: () => Promise<unknown>])[] {
  const others = new Set(['settings', 'as', 'closing', 'close', 'subscribe', 'asOf', ...EVALUATION]);
  // The interface of another actor inherits its members.
  const names: (keyof Flags)[] = [];
  for (const name in flags) if (!others.has(name)) names.push(name as keyof Flags);
  return names.map((name) => {
    const operation = flags[name] as unknown as (...input: unknown[]) => Promise<unknown>;
    return [name, () => operation({}, {})];
  });
}

describe('closing', () => {
  it('waits for running operations, then closes the storage', async () => {
    const storage = logging(memoryStorage());
    const flags = await createFlags({ storage });
    const underWay = Promise.all(['a', 'b', 'c'].map((name) => flags.createFlag(DEFAULT, { name })));
    await flags.close();
    expect(storage.log).toEqual(['committed', 'committed', 'committed', 'committed', 'closed']);
    expect(await underWay).toHaveLength(3);
  });

  it('does not wait for a subscription that cannot find out where it begins, nor do the changes that waited for it', async () => {
    const storage = faultyStorage(memoryStorage());
    const flags = await createFlags({ storage, pollInterval: 0, usageInterval: 0 });
    const hanging = storage.inject({ method: 'events', hang: true });
    flags.subscribe(() => undefined);
    const change = flags.createFlag(DEFAULT, { name: 'checkout' });
    while (hanging.strikes() === 0) await new Promise(setImmediate);
    await flags.close();
    expect((await change).name).toBe('checkout');
  });

  it('is done once, however often it is asked for', async () => {
    const storage = logging(memoryStorage());
    const flags = await createFlags({ storage });
    await Promise.all([flags.close(), flags.close(), flags.as('ada').close()]);
    await flags.close();
    expect(storage.log).toEqual(['committed', 'closed']);
  });

  it('refuses every later operation, for every actor', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    const asAda = flags.as('ada');
    const view = flags.asOf(new Date());
    const closing = flags.close();
    for (const one of [flags, asAda, flags.as('grace')]) {
      expect(everyOperation(one).length).toBeGreaterThan(30);
      for (const [name, operation] of everyOperation(one)) {
        await expect(operation().then(() => name)).rejects.toMatchObject(CLOSED);
      }
      expect(() => one.subscribe(() => undefined)).toThrow(expect.objectContaining(CLOSED));
      expect(() => one.asOf(new Date())).toThrow(expect.objectContaining(CLOSED));
      await expect(view.getFlag({ project: 'default', flag: 'a' })).rejects.toMatchObject(CLOSED);
    }
    await closing;
  });

  it('can be asked for by a listener', async () => {
    const flags = await createFlags({ storage: memoryStorage(), pollInterval: 0 });
    const closed = new Promise<void>((resolve, reject) => {
      flags.subscribe(() => flags.close().then(resolve, reject));
    });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await closed;
    await expect(flags.listProjects()).rejects.toMatchObject(CLOSED);
  });
});
