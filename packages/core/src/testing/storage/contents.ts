import assert from 'node:assert/strict';
import type { Storage } from '../../storage/port.js';
import type { Rule } from './rule.js';
import { commit, eventsOf, flag, happened, idsOf, put, same } from './samples.js';

/** Names that plain objects have already. */
const INHERITED_NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'];

export function contentRules(rule: Rule): void {
  rule('keeps texts of every script, control characters and lone surrogates', async (storage) => {
    await comesBack(storage, [
      '',
      'naïve',
      '漢字',
      'עברית',
      '👩‍👩‍👧',
      '\u0000\u0001\u001f\u007f\u2028\ufeff',
      '\ud800',
      '\udfff x',
      '"\\\'`;--',
    ]);
  });

  rule('keeps null, nested and alone', async (storage) => {
    await comesBack(storage, { a: null, list: [null, { b: null }] });
    await comesBack(storage, null);
  });

  rule('keeps empty values and top-level values of every JSON type', async (storage) => {
    for (const value of ['', 'text', 0, 7, true, false, [], {}]) await comesBack(storage, value);
  });

  rule('keeps numbers at the limits of a double', async (storage) => {
    const { MAX_VALUE, MIN_VALUE, MAX_SAFE_INTEGER, MIN_SAFE_INTEGER, EPSILON } = Number;
    await comesBack(storage, [
      MAX_VALUE,
      -MAX_VALUE,
      MIN_VALUE,
      MAX_SAFE_INTEGER,
      MIN_SAFE_INTEGER,
      EPSILON,
      0.1,
      1e21,
    ]);
  });

  rule('keeps a value of one megabyte', async (storage) => {
    await comesBack(storage, { text: 'é'.repeat(512 * 1024) });
  });

  rule('keeps deep nesting', async (storage) => {
    let value: unknown = 'innermost';
    for (let depth = 0; depth < 200; depth++) value = depth % 2 === 0 ? [value] : { value };
    await comesBack(storage, value);
  });

  rule('drops members that are undefined', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { body: { kept: 1, dropped: undefined } })] });
    same((await storage.get(flag('a')))?.body, { kept: 1 });
  });

  rule('keeps members whose names plain objects inherit', async (storage) => {
    const body = JSON.parse(`{${INHERITED_NAMES.map((name) => `"${name}": {"of": "${name}"}`).join()}}`);
    await commit(storage, { writes: [put(flag('a'), { body, summary: body })] });
    const listed = await storage.list({ kind: 'flag', part: 'summary' });
    for (const value of [(await storage.get(flag('a')))?.body, listed[0]?.content] as object[]) {
      assert.equal(Object.getPrototypeOf(Object.getPrototypeOf(value)), null, 'a plain object');
      same(Object.keys(value).toSorted(), INHERITED_NAMES);
      for (const name of INHERITED_NAMES) {
        same(Object.getOwnPropertyDescriptor(value, name)?.value, { of: name });
      }
    }
  });

  rule('takes such names as kinds, ids and parents', async (storage) => {
    for (const name of INHERITED_NAMES) {
      assert.equal(await storage.get({ kind: name, id: name }), undefined);
      same(await storage.list({ kind: name, parent: name, part: 'body' }), []);
      await commit(storage, {
        writes: [put({ kind: name, id: name }, { parent: name })],
        events: [happened({ kind: name, id: name })],
      });
      assert.equal((await storage.get({ kind: name, id: name }))?.revision, 1);
      same(await idsOf(storage, name, name), [name]);
      assert.equal((await eventsOf(storage, { filter: { subject: { kind: name, id: name } } })).length, 1);
    }
  });
}

/** The value comes back as body, as summary and as an event's data and before. */
async function comesBack(storage: Storage, value: unknown): Promise<void> {
  const expected = (await storage.get(flag('a')))?.revision ?? 0;
  await commit(storage, {
    writes: [put(flag('a'), { expected, body: value, summary: value })],
    events: [happened(flag('a'), { data: value, before: value })],
  });
  const [event] = await eventsOf(storage, { order: 'newest-first', limit: 1 });
  const [listed] = await storage.list({ kind: 'flag', part: 'summary' });
  same((await storage.get(flag('a')))?.body, value);
  same(listed?.content, value);
  same([event?.data, event?.before], [value, value]);
}
