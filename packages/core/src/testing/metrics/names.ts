import assert from 'node:assert/strict';
import { assertSame } from './assert-same.js';
import type { MetricsRule } from './rule.js';
import { NOW, once, registration, report } from './samples.js';

/** In code-point order: the last two change places in the order of UTF-16 units. */
const NAMES: readonly string[] = [
  ' ',
  '%_',
  "'; --",
  'A',
  '__proto__',
  'a',
  'constructor',
  'e\u0301',
  'hasOwnProperty',
  'toString',
  '\u00e9',
  '\u65e5\u672c',
  '\uff5e',
  '\u{1f600}',
];

const REVERSED = [...NAMES].reverse();

export function nameRules(rule: MetricsRule): void {
  rule('of flags are any text, told apart and ordered by code points', async (metrics) => {
    await metrics.record([report({ counts: once(...REVERSED) })]);
    assertSame(await metrics.counts({ after: 0 }), once(...NAMES));
    assertSame((await metrics.application('shop'))?.flags, NAMES);
    assertSame(
      (await metrics.usage()).map(({ flag }) => flag),
      NAMES,
    );
  });

  rule('of flags last seen are any text', async (metrics) => {
    assert.equal((await metrics.lastSeen(NAMES)).size, 0);
    await metrics.record([report({ counts: once(...REVERSED) })]);
    assert.deepEqual(new Map(await metrics.lastSeen(NAMES)), new Map(NAMES.map((name) => [name, NOW])));
  });

  rule('of flags forgotten are any text', async (metrics) => {
    await metrics.record([report({ counts: once(...NAMES) })]);
    for (const name of NAMES.slice(1)) await metrics.forget(name);
    assertSame(await metrics.counts({ after: 0 }), once(...NAMES.slice(0, 1)));
    assertSame([...(await metrics.lastSeen(NAMES)).keys()], NAMES.slice(0, 1));
  });

  rule('of flags kept by pruning are any text', async (metrics) => {
    await metrics.record([report({ counts: once(...NAMES) })]);
    const [dropped = '', ...flags] = NAMES;
    await metrics.prune({ countersUntil: 0, unseenSince: NOW + 1, isFlag: (name) => flags.includes(name) });
    const seen = await metrics.lastSeen(NAMES);
    assertSame([seen.size, seen.has(dropped)], [flags.length, false]);
  });

  rule('of applications are any text, told apart and ordered by code points', async (metrics) => {
    for (const application of NAMES) assert.equal(await metrics.application(application), undefined);
    for (const application of REVERSED) await metrics.register(registration({ application }));
    for (const application of REVERSED) await metrics.record([report({ application })]);
    assertSame(
      (await metrics.applications({ seenSince: 0 })).map(({ name }) => name),
      NAMES,
    );
    assertSame(
      await metrics.usage(),
      NAMES.map((application) => ({ application, flag: 'checkout', count: 1 })),
    );
  });

  rule('of instances are any text, told apart and ordered by code points', async (metrics) => {
    for (const id of REVERSED) await metrics.record([report({ instance: { id } })]);
    const ids = (await metrics.application('shop'))?.instances.map(({ id }) => id);
    assertSame(ids, NAMES);
  });

  rule('of strategies, and all descriptions, come back as they were sent', async (metrics) => {
    const text = NAMES.join('\n');
    const described = { strategies: REVERSED, description: text, url: text, color: text, icon: text };
    await metrics.register(registration(described));
    const [application] = await metrics.applications({ seenSince: 0 });
    assertSame(application, { name: 'shop', ...described, createdAt: NOW, seenAt: NOW });
  });
}
