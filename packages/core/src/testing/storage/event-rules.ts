import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { FlagsStorage, StoredEvent, StoredEventQuery } from '../../storage/port.js';
import { assertEqual, commit, eventsOf, flag, newEvent, put, type StorageRule } from './samples.js';

export function eventRules(rule: StorageRule): void {
  rule("returns an event as it was committed, with id, position and its subject's revision", async (storage) => {
    const event = newEvent(flag('a'), {
      type: 'flag-created',
      at: '2026-02-03T04:05:06.789Z',
      actor: 'grace',
      project: 'shop',
      environment: 'production',
      data: { name: 'a' },
      before: [1, null],
    });
    await commit(storage, { writes: [put(flag('a'))], events: [event] });
    const [stored] = await eventsOf(storage);
    assert.ok(stored);
    const { id, position, ...rest } = stored;
    assertEqual(rest, { ...event, revision: 1 });
    assert.ok(Number.isSafeInteger(id) && id > 0);
    assert.equal(typeof position, 'string');
  });

  rule('stores the change set, and the API token, the reason and the origin, or their absence', async (storage) => {
    const origin = {
      actorTokenId: '0a1b',
      actorTokenKind: 'admin',
      changeSet: '0199-a',
      reason: 'the reason, in “any” text',
      origin: 'change-request/0199-b',
    };
    const { reason: _, ...plain } = newEvent(flag('a'));
    await commit(storage, { writes: [put(flag('a'))], events: [newEvent(flag('a'), origin), plain] });
    for (const query of [{}, { withoutData: true } as const]) {
      const [full = {}, empty = {}] = (await eventsOf(storage, query)) as object[];
      assertEqual({ ...full, ...origin }, full);
      assertEqual({ ...empty, changeSet: plain.changeSet, reason: null }, empty);
      assert.ok(!('actorTokenId' in empty) && !('actorTokenKind' in empty) && !('origin' in empty));
    }
  });

  rule('returns the same events without data', async (storage) => {
    await commit(storage, { writes: [put(flag('a'))], events: [newEvent(flag('a')), newEvent(flag('a'))] });
    await commit(storage, { writes: [put(flag('b'))], events: [newEvent(flag('b'), { environment: 'production' })] });
    const headsOf = (events: readonly StoredEvent[]) => events.map(({ data, before, ...head }) => head);
    for (const order of ['oldest-first', 'newest-first'] as const) {
      const query = { order, limit: 2, offset: 1 };
      const { events } = await storage.events({ ...query, withoutData: true });
      assertEqual(headsOf(events), headsOf((await storage.events(query)).events));
    }
  });

  rule('returns the events of one commit in their order, each with the revision of its subject', async (storage) => {
    await commit(storage, { writes: [put(flag('b'))] });
    await commit(storage, {
      writes: [put(flag('a')), put(flag('b'), { expected: 1 })],
      events: [newEvent(flag('b'), { data: 1 }), newEvent(flag('a'), { data: 2 }), newEvent(flag('b'), { data: 3 })],
    });
    const events = await eventsOf(storage);
    assertEqual(
      events.map(({ data, revision }) => [data, revision]),
      [
        [1, 2],
        [2, 1],
        [3, 2],
      ],
    );
  });

  rule('orders events by commit, not by their time', async (storage) => {
    await commit(storage, {
      writes: [put(flag('a'))],
      events: [newEvent(flag('a'), { at: '2026-06-01T00:00:00.000Z' })],
    });
    await commit(storage, {
      writes: [put(flag('b'))],
      events: [newEvent(flag('b'), { at: '2025-01-01T00:00:00.000Z' })],
    });
    assertEqual(subjects(await eventsOf(storage)), ['a', 'b']);
  });

  rule('assigns unique ids and positions, and returns newest first as the exact reverse', async (storage) => {
    await commitEvents(storage, 12);
    const oldestFirst = await eventsOf(storage);
    assertEqual(subjects(oldestFirst), expectedSubjects(0, 12));
    assertEqual(await eventsOf(storage, { order: 'newest-first' }), oldestFirst.toReversed());
    assert.equal(new Set(oldestFirst.map(({ id }) => id)).size, 12);
    assert.equal(new Set(oldestFirst.map(({ position }) => position)).size, 12);
  });

  rule('returns only events after the position of any event, in both orders', async (storage) => {
    await commitEvents(storage, 12);
    for (const [index, { position: after }] of (await eventsOf(storage)).entries()) {
      const expected = expectedSubjects(index + 1, 12);
      assertEqual(subjects(await eventsOf(storage, { after })), expected);
      assertEqual(subjects(await eventsOf(storage, { after, limit: 2 })), expected.slice(0, 2));
      assertEqual(subjects(await eventsOf(storage, { after, order: 'newest-first' })), expected.toReversed());
    }
  });

  rule('returns only events up to a position, inclusive', async (storage) => {
    await commitEvents(storage, 12);
    const events = await eventsOf(storage);
    for (const [index, { position: until }] of events.entries()) {
      const expected = expectedSubjects(0, index + 1);
      assertEqual(subjects(await eventsOf(storage, { until })), expected);
      assertEqual(
        subjects(await eventsOf(storage, { until, order: 'newest-first', limit: 2 })),
        expected.slice(-2).reverse(),
      );
    }
    const [after, until] = [events[3]?.position ?? '', events[6]?.position ?? ''];
    assertEqual(subjects(await eventsOf(storage, { after, until })), expectedSubjects(4, 7));
    assertEqual(await eventsOf(storage, { after: until, until: after }), []);
    const page = await storage.events({ order: 'newest-first', after, until, limit: 1, offset: 1, total: true });
    assertEqual([subjects(page.events), page.total], [['f5'], 3]);
  });

  rule('returns later events to a reader that has seen all earlier ones', async (storage) => {
    await commitEvents(storage, 3);
    const after = (await eventsOf(storage)).at(-1)?.position ?? '';
    assertEqual(await eventsOf(storage, { after }), []);
    await commit(storage, { writes: [put(flag('later'))], events: [newEvent(flag('later'))] });
    assertEqual(subjects(await eventsOf(storage, { after })), ['later']);
  });

  rule('applies limit and offset, and counts all events', async (storage) => {
    await commitEvents(storage, 10);
    const page = await storage.events({ order: 'newest-first', limit: 3, offset: 2, total: true });
    assertEqual(subjects(page.events), ['f7', 'f6', 'f5']);
    assert.equal(page.total, 10);
    assertEqual(await storage.events({ order: 'oldest-first', limit: 0, total: true }), { events: [], total: 10 });
    assertEqual(await storage.events({ order: 'oldest-first', limit: 5, offset: 10 }), { events: [] });
    assert.equal((await eventsOf(storage, { limit: Number.MAX_SAFE_INTEGER })).length, 10);
  });

  rule('limits a page by the bytes of its data, but returns at least one event', async (storage) => {
    const text = 'ü'.repeat(500);
    for (let index = 0; index < 6; index++) {
      const key = flag(`f${index}`);
      const event = newEvent(key, { data: text, before: index === 5 ? text : null });
      await commit(storage, { writes: [put(key)], events: [event] });
    }
    const page = async (query: Partial<StoredEventQuery>) =>
      storage.events({ order: 'newest-first', limit: 100, total: true, ...query });
    const read = async (query: Partial<StoredEventQuery>) => subjects((await page(query)).events);
    assertEqual(await read({ maxBytes: 10 }), ['f5']);
    assertEqual(await read({ maxBytes: 3100 }), ['f5', 'f4']);
    assertEqual(await read({ maxBytes: 3100, offset: 2 }), ['f3', 'f2', 'f1']);
    assertEqual(await read({ maxBytes: 3100, offset: 2, limit: 1 }), ['f3']);
    assertEqual(await read({ maxBytes: 3100, limit: 0 }), []);
    assertEqual(await read({ maxBytes: 3100, order: 'oldest-first' }), ['f0', 'f1', 'f2']);
    assertEqual(await read({ maxBytes: 3100, filter: { subject: flag('f2') } }), ['f2']);
    assert.equal((await page({ maxBytes: 10 })).total, 6);
    assertEqual(await page({ maxBytes: 100_000 }), await page({}));
  });
}

/** Commits events, each with a new document as its subject: f0, f1, … */
async function commitEvents(storage: FlagsStorage, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const key = flag(`f${index}`);
    await commit(storage, { writes: [put(key)], events: [newEvent(key)] });
  }
}

function subjects(events: readonly { readonly subject: { readonly id: string } }[]): string[] {
  return events.map(({ subject }) => subject.id);
}

function expectedSubjects(from: number, until: number): string[] {
  return Array.from({ length: until - from }, (_, index) => `f${from + index}`);
}

/** Polls the feed in small pages while the writers run, and once more afterwards. Returns the events. */
export async function feedWhile(
  storage: FlagsStorage,
  writers: readonly (() => Promise<void>)[],
): Promise<readonly StoredEvent[]> {
  const seen: StoredEvent[] = [];
  await readWhile(writers, () => readOn(storage, seen));
  while ((await readOn(storage, seen)) > 0);
  return seen;
}

/** Repeats a read while the writers run. Returns all results. */
export async function readWhile<T>(
  writers: readonly (() => Promise<void>)[],
  read: () => Promise<T>,
): Promise<readonly T[]> {
  const given: T[] = [];
  let writing = true;
  const written = Promise.all(writers.map((write) => write())).finally(() => {
    writing = false;
  });
  // A failing writer must not surface as an unhandled rejection while the reader is still busy.
  written.catch(() => undefined);
  while (writing) {
    given.push(await read());
    await setImmediate();
  }
  await written;
  return given;
}

async function readOn(storage: FlagsStorage, seen: StoredEvent[]): Promise<number> {
  const last = seen.at(-1);
  const page = await eventsOf(storage, { limit: 7, ...(last ? { after: last.position } : {}) });
  seen.push(...page);
  return page.length;
}
