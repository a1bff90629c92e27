import { join } from 'node:path';
import { until } from '../../../../test/until.js';
import { createFlags } from '../../src/create-flags.js';
import type { FlagsOptions } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import { type FaultyStorage, faultyStorage } from '../../src/testing.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { hearing } from './listening.js';
import { losingRaces } from './losing-races.js';

const DEFAULT = { project: 'default' };

function closingsOf({ calls }: FaultyStorage): number {
  return calls.filter(({ method }) => method === 'close').length;
}

describe('createFlags', () => {
  it('adds the project default to a new storage, as its own actor, and to no other', async () => {
    const storage = memoryStorage();
    const at = new Date('2026-01-02T03:04:05.678Z');
    const flags = await createFlags({ storage, actor: 'deployment', now: () => at });
    await createFlags({ storage });
    expect((await flags.listEvents()).events).toMatchObject([
      { type: 'project-created', project: 'default', actor: 'deployment', at: at.toISOString(), flag: null },
    ]);
    expect(await flags.listProjects()).toMatchObject([{ id: 'default', createdAt: at.toISOString(), revision: 1 }]);
  });

  it('goes on when both a listener and onError throw, and warns', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const onError = () => {
      throw new Error('onError failed');
    };
    const flags = await createFlags({ storage: memoryStorage(), onError });
    const { heard, listener } = hearing();
    flags.subscribe((event) => {
      listener(event);
      throw new Error('The listener failed');
    });
    await flags.createFlag(DEFAULT, { name: 'a' });
    await flags.createFlag(DEFAULT, { name: 'b' });
    await until(() => heard.length >= 2);
    expect(warned).toHaveBeenCalledWith('Error: onError failed', expect.objectContaining({ type: 'FlagsWarning' }));
    warned.mockRestore();
    await flags.close();
  });

  it('takes the storage as a promise', async () => {
    const flags = await createFlags({ storage: Promise.resolve(memoryStorage()) });
    expect(await flags.listProjects()).toHaveLength(1);
  });

  it('fails as the opening of the storage fails', async () => {
    await expect(createFlags({ storage: Promise.reject(new Error('no disk')) })).rejects.toThrow('no disk');
  });

  it.each<[string, Partial<FlagsOptions>]>([
    ['no environments', { environments: [] }],
    ['no owner', { roles: [{ id: 1, name: 'admin' }] }],
  ])('closes the storage when its options do not fit: %s', async (_, options) => {
    const storage = faultyStorage(memoryStorage());
    await expect(createFlags({ storage, ...options })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(closingsOf(storage)).toBe(1);
  });

  it('closes the storage when it cannot be written to', async () => {
    const storage = faultyStorage(losingRaces(memoryStorage(), 20));
    await expect(createFlags({ storage })).rejects.toMatchObject({ code: 'too_much_contention' });
    expect(closingsOf(storage)).toBe(1);
  });

  it('gives one default project when many open one new SQLite file at once', async () => {
    const directory = temporaryDirectory();
    const path = join(directory.path, 'flags.db');
    const opened = await Promise.all(Array.from({ length: 6 }, () => createFlags({ storage: sqliteStorage(path) })));
    for (const flags of opened) {
      expect(await flags.listProjects()).toMatchObject([{ id: 'default', revision: 1 }]);
      expect((await flags.listEvents()).total).toBe(1);
    }
    await Promise.all(opened.map((flags) => flags.close()));
    directory.remove();
  });
});

describe('flags.as', () => {
  it('attributes changes to its actor, unless a call names another', async () => {
    const flags = await createFlags({ storage: memoryStorage(), actor: 'host' });
    const asAda = flags.as('ada');
    await flags.createFlag(DEFAULT, { name: 'by-host' });
    await asAda.createFlag(DEFAULT, { name: 'by-ada' });
    await asAda.createFlag(DEFAULT, { name: 'by-grace' }, { actor: 'grace' });
    await asAda.as('linus').createFlag(DEFAULT, { name: 'by-linus' });
    const { events } = await flags.listEvents({ type: 'flag-created' });
    expect(new Map(events.map(({ flag, actor }) => [flag, actor]))).toEqual(
      new Map([
        ['by-host', 'host'],
        ['by-ada', 'ada'],
        ['by-grace', 'grace'],
        ['by-linus', 'linus'],
      ]),
    );
  });
});

describe('a decision that is repeated after a conflict', () => {
  it('has the same ids and times, and is one event', async () => {
    const memory = memoryStorage();
    const source = await createFlags({ storage: memory });
    await source.createFlag(DEFAULT, { name: 'checkout' });
    const place = { ...DEFAULT, flag: 'checkout', environment: 'production' };
    for (const name of ['one', 'two', 'three']) await source.addStrategy(place, { name });
    const storage = losingRaces(memory, 4);
    let ids = 0;
    let ticks = 0;
    const newId = () => `id-${ids++}`;
    const now = () => new Date(Date.UTC(2026, 5, 1) + ticks++);
    const flags = await createFlags({ storage, newId, now });
    await flags.cloneFlag({ ...DEFAULT, flag: 'checkout' }, { name: 'copy' });
    const bodies = storage.commits.map(({ writes }) => writes);
    expect(bodies).toHaveLength(5);
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    const { environments } = await flags.getFlag({ ...DEFAULT, flag: 'copy' });
    expect(environments[1]?.strategies.map(({ id }) => id)).toEqual(['id-0', 'id-1', 'id-2']);
    expect((await flags.listEvents({ flag: 'copy' })).total).toBe(1);
  });
});
