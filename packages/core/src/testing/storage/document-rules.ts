import assert from 'node:assert/strict';
import type { FlagsStorage } from '../../storage/port.js';
import {
  assertEqual,
  commit,
  conflict,
  eventsOf,
  flag,
  idsOf,
  newEvent,
  project,
  put,
  type StorageRule,
} from './samples.js';

export function documentRules(rule: StorageRule): void {
  rule('returns undefined for a document that was never written', async (storage) => {
    assert.equal(await storage.get(flag('absent')), undefined);
  });

  rule('returns a document with its key, parent, revision and body', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop', body: { on: true }, summary: 1 })] });
    assertEqual(await storage.get(flag('a')), {
      key: { kind: 'flag', id: 'a' },
      parent: 'shop',
      revision: 1,
      body: { on: true },
    });
  });

  rule('separates kinds, and ids that differ in case, normal form or trailing spaces', async (storage) => {
    const ids = ['Name', 'name', 'name ', 'e\u0301', '\u00e9'];
    const keys = ids.flatMap((id) => [flag(id), project(id)]);
    await commit(storage, { writes: keys.map((key) => put(key, { body: key })) });
    for (const key of keys) assertEqual((await storage.get(key))?.body, key);
  });

  rule('copies the objects that the caller passes, and returns a copy to every reader', async (storage) => {
    const body = { tags: ['first'] };
    const stored = async () => [
      (await storage.get(flag('a')))?.body,
      (await storage.list({ kind: 'flag', part: 'summary' }))[0]?.content,
      (await eventsOf(storage))[0]?.data,
    ];
    await commit(storage, {
      writes: [put(flag('a'), { body, summary: body })],
      events: [newEvent(flag('a'), { data: body })],
    });
    body.tags.push('later');
    for (const mine of (await stored()) as (typeof body)[]) mine.tags.push('mine');
    for (const found of await stored()) assertEqual(found, { tags: ['first'] });
  });
}

/** Names that plain objects inherit. */
const INHERITED_NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'];

const { MAX_VALUE, MIN_VALUE, MAX_SAFE_INTEGER, MIN_SAFE_INTEGER, EPSILON } = Number;

/** Values that must be read unchanged, by their description. */
const CONTENTS: readonly (readonly [name: string, values: readonly unknown[]])[] = [
  ['text of every script', [['', 'naïve', '漢字', 'עברית', '👩‍👩‍👧', '"\\\'`;--']]],
  ['control characters and lone surrogates', [['\u0000\u0001\u001f\u007f\u2028\ufeff', '\ud800', '\udfff x']]],
  ['null, nested and at the top level', [{ a: null, list: [null, { b: null }] }, null]],
  ['empty values, and top-level values of every JSON type', ['', 'text', 0, 7, true, false, [], {}]],
  [
    'numbers at the limits of a double',
    [[MAX_VALUE, -MAX_VALUE, MIN_VALUE, MAX_SAFE_INTEGER, MIN_SAFE_INTEGER, EPSILON, 0.1, 1e21]],
  ],
  ['a value of one megabyte', [{ text: 'é'.repeat(512 * 1024) }]],
  ['deeply nested values', [nested(200)]],
];

function nested(depth: number): unknown {
  if (depth === 0) return 'innermost';
  return depth % 2 === 0 ? [nested(depth - 1)] : { value: nested(depth - 1) };
}

export function contentRules(rule: StorageRule): void {
  for (const [name, values] of CONTENTS) {
    rule(`stores ${name}`, async (storage) => {
      for (const value of values) await comesBack(storage, value);
    });
  }

  rule('drops members that are undefined', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { body: { kept: 1, dropped: undefined } })] });
    assertEqual((await storage.get(flag('a')))?.body, { kept: 1 });
  });

  rule('stores members with names that plain objects inherit', async (storage) => {
    const body = JSON.parse(`{${INHERITED_NAMES.map((name) => `"${name}": {"of": "${name}"}`).join()}}`);
    await commit(storage, { writes: [put(flag('a'), { body, summary: body })] });
    const listed = await storage.list({ kind: 'flag', part: 'summary' });
    for (const value of [(await storage.get(flag('a')))?.body, listed[0]?.content] as object[]) {
      assert.equal(Object.getPrototypeOf(Object.getPrototypeOf(value)), null, 'a plain object');
      assertEqual(Object.keys(value).toSorted(), INHERITED_NAMES);
      for (const name of INHERITED_NAMES) {
        assertEqual(Object.getOwnPropertyDescriptor(value, name)?.value, { of: name });
      }
    }
  });

  rule('accepts such names as kinds, ids and parents', async (storage) => {
    for (const name of INHERITED_NAMES) {
      assert.equal(await storage.get({ kind: name, id: name }), undefined);
      assertEqual(await storage.list({ kind: name, parent: name, part: 'body' }), []);
      await commit(storage, {
        writes: [put({ kind: name, id: name }, { parent: name })],
        events: [newEvent({ kind: name, id: name })],
      });
      assert.equal((await storage.get({ kind: name, id: name }))?.revision, 1);
      assertEqual(await idsOf(storage, name, name), [name]);
      assert.equal((await eventsOf(storage, { filter: { subject: { kind: name, id: name } } })).length, 1);
    }
  });
}

/** Asserts that a value comes back as body, as summary, and as data and before of an event. */
async function comesBack(storage: FlagsStorage, value: unknown): Promise<void> {
  const expected = (await storage.get(flag('a')))?.revision ?? 0;
  await commit(storage, {
    writes: [put(flag('a'), { expected, body: value, summary: value })],
    events: [newEvent(flag('a'), { data: value, before: value })],
  });
  const [event] = await eventsOf(storage, { order: 'newest-first', limit: 1 });
  const [listed] = await storage.list({ kind: 'flag', part: 'summary' });
  assertEqual((await storage.get(flag('a')))?.body, value);
  assertEqual(listed?.content, value);
  assertEqual([event?.data, event?.before], [value, value]);
}

export function deletionRules(rule: StorageRule): void {
  rule('increments the revision when it deletes a document, and when it is created again', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { body: 'old' })] });
    assertEqual(await commit(storage, { writes: [{ key: flag('a'), expected: 1, deleted: true }] }), [2]);
    assert.equal(await storage.get(flag('a')), undefined);
    assertEqual(await commit(storage, { writes: [put(flag('a'), { body: 'new' })] }), [3]);
    assertEqual(await storage.get(flag('a')), { key: flag('a'), parent: null, revision: 3, body: 'new' });
  });

  rule('reports a conflict for a write that expects a revision of a deleted document', async (storage) => {
    await commit(storage, { writes: [put(flag('a'))] });
    await commit(storage, { writes: [{ key: flag('a'), expected: 1, deleted: true }] });
    for (const expected of [1, 2]) {
      await conflict(storage, { writes: [put(flag('a'), { expected })] }, flag('a'));
      await conflict(storage, { writes: [{ key: flag('a'), expected, deleted: true }] }, flag('a'));
    }
    assert.equal(await storage.get(flag('a')), undefined);
  });

  rule('reports a conflict for a deletion with an old revision, or of an absent document', async (storage) => {
    await commit(storage, { writes: [put(flag('a'))] });
    await commit(storage, { writes: [put(flag('a'), { expected: 1, body: 'kept' })] });
    await conflict(storage, { writes: [{ key: flag('a'), expected: 1, deleted: true }] }, flag('a'));
    await conflict(storage, { writes: [{ key: flag('never'), expected: 1, deleted: true }] }, flag('never'));
    assert.equal((await storage.get(flag('a')))?.body, 'kept');
  });

  rule('keeps the events of a deleted document; the last one has the revision of the deletion', async (storage) => {
    const key = flag('a');
    await commit(storage, { writes: [put(key)], events: [newEvent(key, { type: 'created' })] });
    await commit(storage, {
      writes: [{ key, expected: 1, deleted: true }],
      events: [newEvent(key, { type: 'deleted', before: { name: 'a' } })],
    });
    const events = await eventsOf(storage, { filter: { subject: key } });
    assertEqual(
      events.map(({ type, revision }) => [type, revision]),
      [
        ['created', 1],
        ['deleted', 2],
      ],
    );
  });
}

export function instanceRules(rule: StorageRule): void {
  rule('shows a commit to every other instance as soon as it is acknowledged', async (storage, again) => {
    const other = await again();
    if (!other) return;
    for (let expected = 0; expected < 20; expected++) {
      const writer = expected % 2 === 0 ? storage : other;
      const reader: FlagsStorage = expected % 2 === 0 ? other : storage;
      await commit(writer, { writes: [put(flag('a'), { expected, body: expected })], events: [newEvent(flag('a'))] });
      assert.equal((await reader.get(flag('a')))?.body, expected);
      assertEqual(await idsOf(reader, 'flag'), ['a']);
      assert.equal((await eventsOf(reader)).length, expected + 1);
    }
  });

  rule('reports a conflict to one instance if another has changed the document', async (storage, again) => {
    const other = await again();
    if (!other) return;
    await commit(storage, { writes: [put(flag('a'))] });
    await commit(other, { writes: [put(flag('a'), { expected: 1 })] });
    await conflict(storage, { writes: [put(flag('a'), { expected: 1 })] }, flag('a'));
  });

  rule('keeps its state when it is closed and opened again', async (storage, again) => {
    await commit(storage, { writes: [put(flag('a'), { body: 'kept' })], events: [newEvent(flag('a'))] });
    const other = await again();
    if (!other) return;
    await storage.close();
    const [event] = await eventsOf(other);
    const reopened = await again();
    assert.ok(reopened);
    assert.equal((await reopened.get(flag('a')))?.body, 'kept');
    assertEqual(await eventsOf(reopened), [event]);
  });

  rule('allows repeated calls of close, concurrent and later', async (storage) => {
    await Promise.all([storage.close(), storage.close()]);
    await storage.close();
  });

  rule('completes commits that began before close', async (storage, again) => {
    const committed = Promise.all([1, 2, 3].map((number) => commit(storage, { writes: [put(flag(`f${number}`))] })));
    await storage.close();
    await committed;
    const other = await again();
    if (other) assertEqual(await idsOf(other, 'flag'), ['f1', 'f2', 'f3']);
  });
}
