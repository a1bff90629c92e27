import { until } from '../../../../test/until.js';
import { createFlags, type Flags, type FlagsOptions, memoryStorage } from '../../src/index.js';
import { faultyStorage } from '../../src/testing.js';
import { CHECKOUT, PRODUCTION } from '../rules/references.js';
import { settableClock } from '../rules/settable-clock.js';
import { SILENT } from './silent.js';
import { createSwitchedOn } from './switched-on.js';

const FAILURE = new Error('The disk is gone.');

describe('a storage that fails', () => {
  const running: Flags[] = [];

  afterEach(() => Promise.all(running.splice(0).map((flags) => flags.close())));

  async function open(options: FlagsOptions): Promise<Flags> {
    const flags = await createFlags({ ...SILENT, ...options });
    running.push(flags);
    return flags;
  }

  /** Two instances on one storage; the reader's way to it can be broken. */
  async function writerAndReader(options: Omit<FlagsOptions, 'storage'> = {}) {
    const shared = memoryStorage();
    const storage = faultyStorage(shared);
    const writer = await open({ storage: shared });
    await createSwitchedOn(writer, { flag: 'checkout' });
    const reader = await open({ ...options, storage });
    return { writer, reader, storage };
  }

  it('leaves the last good state serving', async () => {
    const { writer, reader, storage } = await writerAndReader();
    await writer.setVariants(CHECKOUT, [{ name: 'blue' }]);
    await reader.refresh();
    const before = reader.configuration();
    storage.inject({ error: FAILURE });
    await writer.disable(PRODUCTION);
    await reader.refresh();
    expect([reader.isEnabled('checkout'), reader.getVariant('checkout').name]).toEqual([true, 'blue']);
    expect(reader.configuration()).toBe(before);
  });

  it('is in the status, with the error and when the state was last current', async () => {
    const clock = settableClock();
    const { reader, storage } = await writerAndReader({ now: clock.now });
    const good = clock.text();
    storage.inject({ error: FAILURE });
    clock.advance(1000);
    expect(await reader.refresh()).toEqual({ state: 'stale', checkedAt: good, error: FAILURE });
    expect(reader.status()).toEqual({ state: 'stale', checkedAt: good, error: FAILURE });
    storage.heal();
    clock.advance(1000);
    expect(await reader.refresh()).toEqual({ state: 'current', checkedAt: clock.text() });
  });

  it('is caught up with by itself when it works again, from where it stopped', async () => {
    const { writer, reader, storage } = await writerAndReader({ pollInterval: 2, onError: () => undefined });
    storage.inject({ error: FAILURE });
    await until(() => reader.status().state === 'stale');
    await writer.disable(PRODUCTION);
    await createSwitchedOn(writer, { flag: 'second' });
    expect([reader.isEnabled('checkout'), reader.isEnabled('second')]).toEqual([true, false]);
    storage.heal();
    await until(() => reader.status().state === 'current');
    expect([reader.isEnabled('checkout'), reader.isEnabled('second')]).toEqual([false, true]);
  });

  it('is told once by the poll, and again only after it has worked in between', async () => {
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const { reader, storage } = await writerAndReader({ pollInterval: 2, onError });
    const first = storage.inject({ error: FAILURE });
    await until(() => first.strikes() >= 5);
    expect(errors).toEqual([FAILURE]);
    storage.heal();
    await until(() => reader.status().state === 'current');
    const second = storage.inject({ error: FAILURE });
    await until(() => second.strikes() >= 5);
    expect(errors).toEqual([FAILURE, FAILURE]);
  });

  it('is told by the status alone where somebody asks for a refresh', async () => {
    const errors: unknown[] = [];
    const { reader, storage } = await writerAndReader({ onError: (error) => errors.push(error) });
    storage.inject({ error: FAILURE });
    expect((await reader.refresh()).error).toBe(FAILURE);
    expect(errors).toEqual([]);
  });

  it('refuses changes with its own error, and nothing of them shows', async () => {
    const { reader, storage } = await writerAndReader();
    storage.inject({ error: FAILURE });
    await expect(reader.disable(PRODUCTION)).rejects.toBe(FAILURE);
    expect(reader.isEnabled('checkout')).toBe(true);
    storage.heal();
    await reader.disable(PRODUCTION);
    expect(reader.isEnabled('checkout')).toBe(false);
  });

  it('keeps no instance from opening with an error of its own when it fails at the start', async () => {
    const storage = faultyStorage(memoryStorage());
    storage.inject({ error: FAILURE });
    await expect(createFlags({ ...SILENT, storage })).rejects.toBe(FAILURE);
  });
});
