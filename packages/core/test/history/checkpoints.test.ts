import { type Change, createFlags, type Flags } from '../../src/index.js';
import type { DocumentWrite, Storage, StoredEvent } from '../../src/storage/port.js';
import { SILENT } from '../replica/silent.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../rules/references.js';
import { type OpenStorage, STORAGES } from '../storage-kinds.js';

type ToStored = (write: DocumentWrite) => readonly DocumentWrite[];

const isCheckpoint = ({ key }: DocumentWrite) => key.kind === 'checkpoint';
const withoutCheckpoints: ToStored = (write) => (isCheckpoint(write) ? [] : [write]);

describe.each(STORAGES)('checkpoints on $name', ({ open }) => {
  let opened: OpenStorage;
  let flags: Flags;
  /** The pages of events with their data that were read. */
  let pages: StoredEvent[][];
  let written: DocumentWrite[];

  async function start(toStored: ToStored = (write) => [write]): Promise<void> {
    opened = await open();
    const { storage } = opened;
    const observed: Storage = {
      ...storage,
      get: (key) => storage.get(key),
      list: (query) => storage.list(query),
      close: () => storage.close(),
      async commit(commit) {
        const writes = commit.writes.flatMap(toStored);
        written.push(...writes);
        return storage.commit({ ...commit, writes });
      },
      async events(query) {
        const page = await storage.events(query);
        if (!query.withoutData) pages.push(page.events);
        return page;
      },
    };
    pages = [];
    written = [];
    flags = await createFlags({ ...SILENT, storage: observed });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
  }

  afterEach(async () => {
    await flags.close();
    await opened.dispose();
  });

  const giveLargeVariants = () => {
    const payload = { type: 'string', value: 'x'.repeat(150_000) } as const;
    return flags.setVariants(CHECKOUT, [{ name: 'large', payload }]);
  };
  const dropVariants = () => flags.setVariants(CHECKOUT, []);
  const describeTo = (description: string) => flags.updateFlag(CHECKOUT, { description });

  /** Resolves to the flag's description at the end of the log, and the number of events that this has read. */
  async function readNow(): Promise<{ readonly description: unknown; readonly events: number }> {
    const [newest] = (await flags.listEvents({ limit: 1 })).events;
    pages = [];
    const { description } = await flags.asOf({ position: newest?.position ?? '' }).getFlag(CHECKOUT);
    return { description, events: pages.flat().filter(({ subject }) => subject.id === 'checkout').length };
  }

  it('follow a set that appends many events to one revision', async () => {
    await start();
    const strategies = Array.from({ length: 60 }, () => ({ name: 'default' }));
    const configure: Change = { op: 'configureEnvironment', ref: PRODUCTION, input: { enabled: true, strategies } };
    for (let round = 0; round < 4; round++) await flags.apply([configure, configure]);
    await describeTo('now');
    expect(await readNow()).toEqual({ description: 'now', events: 1 });
  });

  it('follow large events, so that few megabytes are read', async () => {
    await start();
    await giveLargeVariants();
    for (let round = 0; round < 12; round++) await describeTo(`${round}`);
    await dropVariants();
    for (let round = 0; round < 11; round++) await describeTo(`${round}`);
    const { description, events } = await readNow();
    expect([description, events <= 12]).toEqual(['10', true]);
  });

  it('are few beside small changes', async () => {
    await start();
    for (let round = 0; round < 220; round++) await describeTo(`${round}`);
    expect(written.filter(isCheckpoint)).toHaveLength(1);
    const { description, events } = await readNow();
    expect([description, events < 30]).toEqual(['219', true]);
  });

  it('may be missing: then all events are read, in pages', async () => {
    await start(withoutCheckpoints);
    for (let round = 0; round < 700; round++) await describeTo(`${round}`.padEnd(1000));
    const { description, events } = await readNow();
    expect([`${description}`.trim(), events < 1000]).toEqual(['699', true]);
    expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(256);
    expect(Math.max(...pages.map((page) => JSON.stringify(page).length))).toBeLessThan(600_000);
  });

  it('are not part of the events between them', async () => {
    await start();
    const positions: string[] = [];
    for (let round = 0; round < 30; round++) {
      await flags.apply([
        { op: 'updateFlag', ref: CHECKOUT, input: { description: `${round}` } },
        ...Array.from({ length: round % 7 === 0 ? 12 : 0 }, (_, at): Change => {
          return { op: 'updateFlag', ref: CHECKOUT, input: { labels: [`${round}-${at}`] } };
        }),
      ]);
      positions.push((await flags.listEvents({ limit: 1 })).events[0]?.position ?? '');
    }
    for (const [round, position] of positions.entries()) {
      expect((await flags.asOf({ position }).getFlag(CHECKOUT)).description).toBe(`${round}`);
    }
  });
});
