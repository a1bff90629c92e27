import assert from 'node:assert/strict';
import { LIMITS } from '../../base/limits.js';
import type { FlagCount, MetricsStorage, Reporter } from '../../storage/metrics-port.js';
import { assertSame, type MetricsRule } from '../test-runner.js';
import { MINUTE, NOW, once, registration, report } from './samples.js';

/** Names in code-point order. */
function names(count: number, prefix = 'name'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${10_000 + index}`);
}

export function limitRules(rule: MetricsRule): void {
  rule('does not store applications beyond the limit, but counts their flags', async (metrics) => {
    await fillExcept(metrics, 0);
    await metrics.record([report({ application: 'further', counts: once('a'), unknown: once('b') })]);
    await metrics.register(registration({ application: 'further' }));
    await metrics.record([report({ application: 'name-10000', counts: once('a') })]);
    assert.equal(await metrics.application('further'), undefined);
    assertSame(await metrics.usage(), [{ application: 'name-10000', flag: 'a', count: 1 }]);
    assertSame(await metrics.counts({ after: 0 }), [{ flag: 'a', yes: 2, no: 0 }]);
    assert.equal((await metrics.applications({ seenSince: 0 })).length, LIMITS.applications);
    assertSame([metrics.dropped.reports, metrics.dropped.names], [2, 0]);
    await metrics.forgetApplication('name-10001');
    await metrics.register(registration({ application: 'further' }));
    assert.equal((await metrics.application('further'))?.name, 'further');
  });

  rule('drops the least recently seen instances beyond the limit', async (metrics) => {
    const ids = names(LIMITS.instancesPerApplication);
    await metrics.record(
      [],
      ids.map((id, index) => registration({ instance: { id }, at: NOW + index })),
    );
    await metrics.record([report({ at: NOW + MINUTE, instance: { id: ids[0] ?? '' } })]);
    await metrics.register(registration({ at: NOW + MINUTE, instance: { id: 'new' } }));
    await metrics.record([report({ at: NOW + MINUTE, instance: { id: 'newer' } })]);
    const kept = (await metrics.application('shop'))?.instances.map(({ id }) => id);
    assertSame(kept, [ids[0], ...ids.slice(3), 'new', 'newer']);
  });
}

const SERVER: Reporter = { token: 'server', isPublic: false };
const PAGE: Reporter = { token: 'page', isPublic: true };

const TOKENS = [
  ['an API token', SERVER, LIMITS.applicationsPerToken],
  ['a public token', PAGE, LIMITS.applicationsPerFrontendToken],
] as const;

/** Fills the storage with applications without a token, and leaves as much room. */
async function fillExcept(metrics: MetricsStorage, room: number): Promise<void> {
  const applications = names(LIMITS.applications - room);
  for (let first = 0; first < applications.length; first += 1000) {
    const batch = applications.slice(first, first + 1000);
    await metrics.record(
      [],
      batch.map((application) => registration({ application })),
    );
  }
}

async function countOf(metrics: MetricsStorage): Promise<number> {
  return (await metrics.applications({ seenSince: 0 })).length;
}

/** The bounds of what a token can invent. */
export function reporterRules(rule: MetricsRule): void {
  for (const [token, reporter, limit] of TOKENS) {
    rule(`limits the applications of ${token}`, async (metrics) => {
      const all = names(limit).map((application) => registration({ application, reporter }));
      await metrics.record([], all);
      await metrics.record([report({ application: 'further', counts: once('a'), unknown: once('b'), reporter })]);
      await metrics.register(registration({ application: 'further', reporter }));
      assert.equal(await metrics.application('further'), undefined);
      assertSame([await countOf(metrics), metrics.dropped.reports], [limit, 2]);
      assertSame(await metrics.counts({ after: 0 }), once('a'));
      // Known ones are still updated, and others have bounds of their own.
      await metrics.record([report({ application: 'name-10000', at: NOW + MINUTE, reporter })]);
      assert.equal((await metrics.application('name-10000'))?.seenAt, NOW + MINUTE);
      await metrics.record([report({ application: 'theirs', reporter: { ...reporter, token: 'another' } })]);
      await metrics.record([report({ application: 'ours' })]);
      assert.equal(await countOf(metrics), limit + 2);
      await metrics.forgetApplication('name-10001');
      await metrics.register(registration({ application: 'further', reporter }));
      assert.equal((await metrics.application('further'))?.name, 'further');
    });
  }

  rule('limits the applications of a token with concurrent callers', async (metrics, again) => {
    const instances = [metrics, await again()];
    const record = async (caller: number) =>
      instances[caller % 2]?.record(
        names(20, `caller-${caller}`).map((application) => report({ application, reporter: PAGE })),
      );
    for (let first = 0; first < 10; first += 2) await Promise.all([record(first), record(first + 1)]);
    const limit = LIMITS.applicationsPerFrontendToken;
    const stored = await countOf(metrics);
    assert.ok(stored >= limit && stored <= limit + 20, `${stored} applications`);
  });

  rule('counts an application for the token that created it', async (metrics) => {
    await metrics.record([report({ application: 'ours', reporter: SERVER })]);
    await metrics.record(names(100).map((application) => report({ application, reporter: PAGE })));
    await metrics.record([report({ application: 'ours', at: NOW + MINUTE, reporter: PAGE })]);
    assert.equal((await metrics.application('ours'))?.seenAt, NOW + MINUTE);
    assertSame([await countOf(metrics), metrics.dropped.reports], [101, 0]);
  });

  rule('gives an application of a public token to the first other reporter', async (metrics) => {
    const applications = names(LIMITS.applicationsPerFrontendToken);
    await metrics.record(applications.map((application) => report({ application, reporter: PAGE })));
    await metrics.record([report({ application: 'name-10000', reporter: SERVER })]);
    await metrics.record([report({ application: 'name-10001' })]);
    await metrics.record([
      report({ application: 'new-1', reporter: PAGE }),
      report({ application: 'new-2', reporter: PAGE }),
      report({ application: 'new-3', reporter: PAGE }),
    ]);
    assert.equal(await metrics.application('new-3'), undefined);
    assert.equal((await metrics.application('new-2'))?.name, 'new-2');
  });

  rule('drops the least recent applications of public tokens when others need their room', async (metrics) => {
    await fillExcept(metrics, 3);
    for (const [index, application] of ['p-1', 'p-2', 'p-3'].entries()) {
      const [counts, unknown] = [once('a'), once('b')];
      await metrics.record([report({ application, at: NOW + index, counts, unknown, reporter: PAGE })]);
    }
    await metrics.record([report({ application: 'p-1', at: NOW + MINUTE, reporter: PAGE })]);
    await metrics.record([report({ application: 'p-4', reporter: PAGE })]);
    await metrics.register(registration({ application: 'ours-1', reporter: SERVER }));
    const isStored = async (name: string) => (await metrics.application(name)) !== undefined;
    const found = [];
    for (const name of ['p-1', 'p-2', 'p-3', 'p-4', 'ours-1']) if (await isStored(name)) found.push(name);
    assertSame(found, ['p-1', 'p-3', 'ours-1']);
    const users = (await metrics.usage()).filter(({ flag }) => flag !== 'checkout');
    assertSame(
      users.map(({ application, flag }) => [application, flag]),
      [
        ['p-1', 'a'],
        ['p-1', 'b'],
        ['p-3', 'a'],
        ['p-3', 'b'],
      ],
    );
    // One that a server has named is no longer dropped.
    await metrics.record([report({ application: 'p-3', reporter: SERVER })]);
    await metrics.record([
      report({ application: 'p-5', reporter: PAGE }),
      report({ application: 'ours-2' }),
      report({ application: 'ours-3' }),
    ]);
    const left = [];
    for (const name of ['p-1', 'p-3', 'p-5', 'ours-1', 'ours-2', 'ours-3']) if (await isStored(name)) left.push(name);
    assertSame(left, ['p-3', 'ours-1', 'ours-2']);
    assertSame(await countOf(metrics), LIMITS.applications);
    assertSame((await metrics.counts({ after: 0 }))[0], { flag: 'a', yes: 3, no: 0 });
  });
}

/** Records a report for every second from one age to another, oldest first, ten reports at a time. */
async function recordEachSecond(
  metrics: MetricsStorage,
  counts: readonly FlagCount[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  for (let oldest = from; oldest >= to; oldest -= 10) {
    const ages = Array.from({ length: Math.min(10, oldest - to + 1) }, (_, index) => oldest - index);
    await metrics.record(ages.map((age) => report({ at: NOW, stop: NOW - age * 1000, counts })));
  }
}

export function counterLimitRules(rule: MetricsRule): void {
  rule('keeps counters beyond the limit by the minute, except the last two minutes', async (metrics) => {
    const flags = once(...names(LIMITS.countersBySecond / 250));
    const seconds = 250 + 2 * 60;
    await metrics.record([report({ counts: once('newest') })]);
    await metrics.record([report({ at: NOW, stop: NOW - 62 * MINUTE, counts: once('too old for any window') })]);
    await recordEachSecond(metrics, flags, { from: seconds, to: 0 });
    const sumAfter = async (age: number) => (await metrics.counts({ after: NOW - age * 1000 }))[0]?.yes;
    for (const age of [1, 60, 119, 120]) assert.equal(await sumAfter(age), age, `${age} s`);
    for (const age of [121, 150, 180]) assert.equal(await sumAfter(age), 180, `${age} s`);
    assert.equal(await sumAfter(181), 240);
    assert.equal(await sumAfter(60 * 60), seconds + 1);
    assertSame((await metrics.counts({ after: 0 })).length, flags.length + 1);
  });

  rule('adds late counts to merged ones', async (metrics) => {
    const flags = once(...names(LIMITS.countersBySecond / 250));
    for (let round = 0; round < 2; round += 1) {
      await recordEachSecond(metrics, flags, { from: 420, to: 121 });
      await metrics.record([report({ counts: flags })]);
    }
    assertSame(
      await metrics.counts({ after: NOW - 60 * MINUTE }),
      flags.map(({ flag }) => ({ flag, yes: 602, no: 0 })),
    );
    await metrics.forget('name-10000');
    assert.equal((await metrics.counts({ after: 0 })).length, flags.length - 1);
    await metrics.prune({ countersUntil: NOW - MINUTE, unseenSince: 0, isFlag: () => true });
    assertSame((await metrics.counts({ after: NOW - MINUTE })).length, flags.length - 1);
  });
}

export function unknownNameRules(rule: MetricsRule): void {
  rule('counts unknown names beside flags, without last-seen times', async (metrics) => {
    const unknown = [{ flag: 'chekcout', yes: 2, no: 3 }];
    await metrics.record([report({ counts: once('banner', 'checkout'), unknown })]);
    await metrics.record([report({ unknown, counts: [] })]);
    assertSame(await metrics.counts({ after: 0 }), [
      ...once('banner'),
      ...once('checkout'),
      { flag: 'chekcout', yes: 4, no: 6 },
    ]);
    assertSame(await metrics.counts({ after: NOW }), []);
    const usage = (await metrics.usage()).map(({ flag, count }) => [flag, count]);
    assertSame(usage, [
      ['banner', 1],
      ['checkout', 1],
      ['chekcout', 10],
    ]);
    assertSame((await metrics.application('shop'))?.flags, ['banner', 'checkout', 'chekcout']);
    assertSame([...(await metrics.lastSeen(['chekcout', 'checkout'])).keys()], ['checkout']);
  });

  rule('adds the counts of an unknown name to those of a flag with that name', async (metrics) => {
    await metrics.record([report({ counts: [], unknown: once('checkout') })]);
    await metrics.record([report()]);
    assertSame(await metrics.counts({ after: 0 }), [{ flag: 'checkout', yes: 2, no: 0 }]);
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'checkout', count: 2 }]);
    assertSame((await metrics.application('shop'))?.flags, ['checkout']);
  });

  rule(
    'replaces the least recent name of an application beyond its limit, and counts the dropped ones',
    async (metrics) => {
      const [first = '', ...rest] = names(LIMITS.unknownNamesPerApplication);
      await metrics.record([report({ counts: once('checkout'), unknown: once(first, ...rest) })]);
      await metrics.record([report({ counts: [], unknown: once(first) })]);
      await metrics.record([report({ application: 'other', counts: [], unknown: once('theirs') })]);
      await metrics.record([report({ counts: [], unknown: once('z1', 'z2'), droppedNames: 5 })]);
      const detail = await metrics.application('shop');
      assertSame(detail?.flags, ['checkout', first, ...rest.slice(2), 'z1', 'z2']);
      assert.equal(detail?.droppedNames, 7);
      assert.equal((await metrics.application('other'))?.droppedNames, undefined);
      assertSame([metrics.dropped.names, metrics.dropped.reports], [7, 0]);
      const counted = (await metrics.counts({ after: 0 })).map(({ flag }) => flag);
      assertSame(counted, ['checkout', first, ...rest.slice(2), 'theirs', 'z1', 'z2']);
    },
  );

  rule('replaces the least recent name beyond the limit of all applications', async (metrics) => {
    const unknown = once(...names(LIMITS.unknownNamesPerApplication));
    const count = LIMITS.unknownNames / LIMITS.unknownNamesPerApplication;
    for (const application of names(count, 'app')) await metrics.record([report({ application, counts: [], unknown })]);
    await metrics.record([report({ counts: [], unknown: once('a', 'b') })]);
    assertSame((await metrics.application('app-10000'))?.flags, names(LIMITS.unknownNamesPerApplication).slice(2));
    assertSame((await metrics.application('shop'))?.flags, ['a', 'b']);
    assert.equal((await metrics.application('app-10000'))?.droppedNames, 2);
  });

  rule('keeps the limit with concurrent callers', async (metrics, again) => {
    const instances = [metrics, await again()];
    const record = async (caller: number) =>
      instances[caller % 2]?.record([report({ counts: [], unknown: once(...names(20, `caller-${caller}`)) })]);
    await Promise.all(Array.from({ length: 30 }, (_, caller) => record(caller)));
    await metrics.record([report({ counts: [], unknown: once('last') })]);
    const detail = await metrics.application('shop');
    assert.equal(detail?.flags.length, LIMITS.unknownNamesPerApplication);
    assert.equal(detail?.flags.includes('last'), true);
    assert.equal(detail?.droppedNames, 501);
  });

  rule('forgets unknown names like flags, and with their application', async (metrics) => {
    await metrics.record([report({ counts: [], unknown: once('a', 'b'), droppedNames: 1 })]);
    await metrics.forget('a');
    assertSame((await metrics.application('shop'))?.flags, ['b']);
    assertSame(await metrics.counts({ after: 0 }), once('b'));
    await metrics.forgetApplication('shop');
    await metrics.register(registration());
    const detail = await metrics.application('shop');
    assertSame([detail?.flags, detail?.droppedNames], [[], undefined]);
    assertSame(await metrics.counts({ after: 0 }), []);
  });

  rule('prunes unknown names that were last reported before the given time', async (metrics) => {
    await metrics.record([report({ at: NOW - MINUTE, stop: NOW - MINUTE, counts: [], unknown: once('old') })]);
    await metrics.record([report({ counts: [], unknown: once('new') })]);
    await metrics.prune({ countersUntil: NOW - MINUTE, unseenSince: NOW, isFlag: () => false });
    assertSame((await metrics.application('shop'))?.flags, ['new']);
    assertSame(await metrics.counts({ after: 0 }), once('new'));
  });

  rule('counts many seconds, and the last two minutes exactly', async (metrics) => {
    const seconds = 3600;
    for (let age = seconds - 1; age >= 0; age -= 30) {
      const reports = Array.from({ length: 30 }, (_, index) => NOW - (age - index) * 1000);
      await metrics.record(reports.map((stop) => report({ at: NOW, stop, counts: [], unknown: once('name') })));
    }
    for (const [after, expected] of [
      [NOW - MINUTE, 60],
      [NOW - 2 * MINUTE, 120],
      [NOW - 60 * MINUTE, seconds],
    ] as const) {
      assertSame(await metrics.counts({ after }), [{ flag: 'name', yes: expected, no: 0 }]);
    }
  });
}
