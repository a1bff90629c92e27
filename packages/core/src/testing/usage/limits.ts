import assert from 'node:assert/strict';
import { LIMITS } from '../../base/limits.js';
import type { Reporter, UsageStorage } from '../../storage/usage-port.js';
import { MINUTE, SECOND } from '../../storage/usage-rules.js';
import { assertSame, type UsageRule } from '../test-runner.js';
import {
  applicationOf,
  countsIn,
  flagsOf,
  NOW,
  namesOf,
  once,
  pairsIn,
  record,
  register,
  registration,
  report,
} from './samples.js';

const SERVER: Reporter = { token: 'server', isPublic: false };
const PAGE: Reporter = { token: 'page', isPublic: true };

/** Fills the storage with applications without a token, and leaves as much room. */
async function fillExcept(usage: UsageStorage, room: number): Promise<void> {
  const applications = namesOf(LIMITS.applications - room);
  for (let first = 0; first < applications.length; first += 1000) {
    const batch = applications.slice(first, first + 1000).map((application) => registration({ application }));
    await register(usage, batch);
  }
}

async function countOf(usage: UsageStorage): Promise<number> {
  return (await usage.applications({})).length;
}

/** Returns those of the names whose applications are stored. */
async function storedOf(usage: UsageStorage, ...names: readonly string[]): Promise<string[]> {
  return (await usage.applications({ names })).map(({ name }) => name);
}

export function limitRules(rule: UsageRule): void {
  rule('does not store applications beyond the limit, but counts their flags', async (usage) => {
    await fillExcept(usage, 0);
    const further = report({ application: 'further', counts: once('a'), unknown: once('b') });
    assertSame(await record(usage, further), { names: 0, reports: 1, usage: 0 });
    const registered = await register(usage, registration({ application: 'further' }));
    assertSame(registered, { names: 0, reports: 1, usage: 0 });
    await record(usage, report({ application: 'name-10000', counts: once('a') }));
    assert.equal(await applicationOf(usage, 'further'), undefined);
    assertSame(await pairsIn(usage), [{ application: 'name-10000', flag: 'a', count: 1 }]);
    assertSame(await countsIn(usage), [{ flag: 'a', yes: 2, no: 0 }]);
    assert.equal((await usage.lastSeen(['a'])).get('a'), NOW);
    assert.equal(await countOf(usage), LIMITS.applications);
    await usage.forget({ application: 'name-10001' });
    await register(usage, registration({ application: 'further' }));
    assertSame(await storedOf(usage, 'further'), ['further']);
  });

  rule('drops the least recently seen instances beyond the limit', async (usage) => {
    const ids = namesOf(LIMITS.instancesPerApplication);
    for (const [index, id] of ids.entries()) {
      await register(usage, registration({ instance: { id } }), { at: NOW + index });
    }
    await record(usage, report({ instance: { id: ids[0] ?? '' } }), { at: NOW + MINUTE });
    await register(usage, registration({ instance: { id: 'new' } }), { at: NOW + MINUTE });
    await record(usage, report({ instance: { id: 'newer' } }), { at: NOW + MINUTE });
    const kept = (await applicationOf(usage, 'shop'))?.instances?.map(({ id }) => id);
    assertSame(kept, [ids[0], ...ids.slice(3), 'new', 'newer']);
  });
}

const TOKENS = [
  ['an API token', SERVER, LIMITS.applicationsPerToken],
  ['a public token', PAGE, LIMITS.applicationsPerFrontendToken],
] as const;

/** The bounds of what a token can invent. */
export function reporterRules(rule: UsageRule): void {
  for (const [token, reporter, limit] of TOKENS) {
    rule(`limits the applications of ${token}`, async (usage) => {
      const all = namesOf(limit).map((application) => registration({ application }));
      await register(usage, all, { reporter });
      const further = report({ application: 'further', counts: once('a'), unknown: once('b') });
      assert.equal((await record(usage, further, { reporter })).reports, 1);
      assert.equal((await register(usage, registration({ application: 'further' }), { reporter })).reports, 1);
      assert.equal(await applicationOf(usage, 'further'), undefined);
      assert.equal(await countOf(usage), limit);
      assertSame(await countsIn(usage), once('a'));
      // Known ones are still updated, and others have bounds of their own.
      await record(usage, report({ application: 'name-10000' }), { at: NOW + MINUTE, reporter });
      assert.equal((await applicationOf(usage, 'name-10000'))?.seenAt, NOW + MINUTE);
      await record(usage, report({ application: 'theirs' }), { reporter: { ...reporter, token: 'another' } });
      await record(usage, report({ application: 'ours' }));
      assert.equal(await countOf(usage), limit + 2);
      await usage.forget({ application: 'name-10001' });
      await register(usage, registration({ application: 'further' }), { reporter });
      assertSame(await storedOf(usage, 'further'), ['further']);
    });
  }

  rule('limits the applications of a token with concurrent callers', async (usage, again) => {
    const instances = [usage, await again()];
    const recordAs = (caller: number) => {
      const reports = namesOf(20, `caller-${caller}`).map((application) => report({ application }));
      return record(instances[caller % 2] ?? usage, reports, { reporter: PAGE });
    };
    for (let first = 0; first < 10; first += 2) await Promise.all([recordAs(first), recordAs(first + 1)]);
    const limit = LIMITS.applicationsPerFrontendToken;
    const stored = await countOf(usage);
    assert.ok(stored >= limit && stored <= limit + 20, `${stored} applications`);
  });

  rule('counts an application for the token that created it', async (usage) => {
    await record(usage, report({ application: 'ours' }), { reporter: SERVER });
    const theirs = namesOf(100).map((application) => report({ application }));
    await record(usage, theirs, { reporter: PAGE });
    const dropped = await record(usage, report({ application: 'ours' }), { at: NOW + MINUTE, reporter: PAGE });
    assert.equal((await applicationOf(usage, 'ours'))?.seenAt, NOW + MINUTE);
    assertSame([await countOf(usage), dropped.reports], [101, 0]);
  });

  rule('gives an application of a public token to the first other reporter', async (usage) => {
    const applications = namesOf(LIMITS.applicationsPerFrontendToken).map((application) => report({ application }));
    await record(usage, applications, { reporter: PAGE });
    await record(usage, report({ application: 'name-10000' }), { reporter: SERVER });
    await record(usage, report({ application: 'name-10001' }));
    const further = ['new-1', 'new-2', 'new-3'].map((application) => report({ application }));
    await record(usage, further, { reporter: PAGE });
    assertSame(await storedOf(usage, 'new-1', 'new-2', 'new-3'), ['new-1', 'new-2']);
  });

  rule('drops the least recent applications of public tokens when others need their room', async (usage) => {
    await fillExcept(usage, 3);
    for (const [index, application] of ['p-1', 'p-2', 'p-3'].entries()) {
      const counted = report({ application, counts: once('a'), unknown: once('b') });
      await record(usage, counted, { at: NOW + index, reporter: PAGE });
    }
    await record(usage, report({ application: 'p-1' }), { at: NOW + MINUTE, reporter: PAGE });
    await record(usage, report({ application: 'p-4' }), { reporter: PAGE });
    await register(usage, registration({ application: 'ours-1' }), { reporter: SERVER });
    assertSame(await storedOf(usage, 'p-1', 'p-2', 'p-3', 'p-4', 'ours-1'), ['ours-1', 'p-1', 'p-3']);
    const pairs = (await pairsIn(usage)).filter(({ flag }) => flag !== 'checkout');
    assertSame(
      pairs.map(({ application, flag }) => [application, flag]),
      [
        ['p-1', 'a'],
        ['p-1', 'b'],
        ['p-3', 'a'],
        ['p-3', 'b'],
      ],
    );
    // One that a server has named is no longer dropped.
    await record(usage, report({ application: 'p-3' }), { reporter: SERVER });
    await record(usage, [report({ application: 'ours-2' }), report({ application: 'ours-3' })]);
    await record(usage, report({ application: 'p-5' }), { reporter: PAGE });
    const left = await storedOf(usage, 'p-1', 'p-3', 'p-5', 'ours-1', 'ours-2', 'ours-3');
    assertSame(left, ['ours-1', 'ours-2', 'p-3']);
    assert.equal(await countOf(usage), LIMITS.applications);
    assertSame((await countsIn(usage))[0], { flag: 'a', yes: 3, no: 0 });
  });

  rule('drops the names of public reporters before those of others', async (usage) => {
    const theirs = namesOf(LIMITS.unknownNamesPerApplication - 1, 'theirs');
    await record(usage, report({ counts: [], unknown: once('ours') }));
    for (const [index, name] of theirs.entries()) {
      await record(usage, report({ counts: [], unknown: once(name) }), { at: NOW + SECOND + index, reporter: PAGE });
    }
    await record(usage, report({ counts: [], unknown: once(theirs[0] ?? '') }), { at: NOW + MINUTE });
    await record(usage, report({ counts: [], unknown: once('z') }), { at: NOW + 2 * MINUTE, reporter: PAGE });
    await record(usage, report({ counts: [], unknown: once('zz') }), { at: NOW + 2 * MINUTE });
    assertSame(await flagsOf(usage, 'shop'), ['ours', theirs[0], ...theirs.slice(3), 'z', 'zz']);
  });
}

export function rowRules(rule: UsageRule): void {
  rule('keeps what is within the bounds when it prunes', async (usage) => {
    await record(usage, report({ counts: once(...namesOf(100)), unknown: once(...namesOf(100, 'unknown')) }));
    assertSame(await usage.prune({ now: NOW }), { names: 0, reports: 0, usage: 0 });
    assert.equal((await pairsIn(usage)).length, 200);
  });

  rule('deletes names of public reporters first, then those of the largest application', async (usage) => {
    const perApplication = LIMITS.unknownNamesPerApplication;
    const unknown = once(...namesOf(perApplication));
    const full = LIMITS.unknownNames / perApplication;
    for (const application of namesOf(full - 1, 'app'))
      await record(usage, report({ application, counts: [], unknown }));
    await record(usage, report({ counts: [], unknown: unknown.slice(0, perApplication - 2) }));
    const theirs = ['x', 'y'].map((name) => ({ flag: name, yes: 1, no: 0 }));
    await record(usage, report({ application: 'page', counts: [], unknown: theirs }), { reporter: PAGE });
    await record(usage, report({ application: 'one', counts: [], unknown: once('u', 'v', 'w') }));
    const dropped = await usage.prune({ now: NOW });
    assertSame(dropped, { names: 3, reports: 0, usage: 0 });
    assertSame(await flagsOf(usage, 'page'), []);
    assertSame(await flagsOf(usage, 'one'), ['u', 'v', 'w']);
    assert.equal((await flagsOf(usage, 'shop')).length, perApplication - 2);
    assert.equal((await applicationOf(usage, 'page'))?.droppedNames, 2);
    assertSame(
      (await countsIn(usage)).filter(({ flag }) => flag === 'x'),
      [],
    );
  });
}

export function unknownNameRules(rule: UsageRule): void {
  rule('counts unknown names beside flags, without last-seen times and usage over time', async (usage) => {
    const unknown = [{ flag: 'chekcout', yes: 2, no: 3 }];
    await record(usage, report({ counts: once('banner', 'checkout'), unknown }));
    await record(usage, report({ unknown, counts: [] }));
    for (const resolution of ['second', 'minute'] as const) {
      assertSame(await usage.sum({ resolution, by: ['flag'] }), [
        ...once('banner', 'checkout'),
        { flag: 'chekcout', yes: 4, no: 6 },
      ]);
    }
    for (const resolution of ['hour', 'day'] as const) {
      assertSame(await usage.sum({ resolution, by: ['flag'] }), once('banner', 'checkout'));
    }
    const pairs = (await pairsIn(usage)).map(({ flag, count }) => [flag, count]);
    assertSame(pairs, [
      ['banner', 1],
      ['checkout', 1],
      ['chekcout', 10],
    ]);
    assertSame([...(await usage.lastSeen(['chekcout', 'checkout'])).keys()], ['checkout']);
  });

  rule('adds the counts of an unknown name to those of a flag with that name', async (usage) => {
    await record(usage, report({ counts: [], unknown: once('checkout') }));
    await record(usage, report());
    assertSame(await countsIn(usage), [{ flag: 'checkout', yes: 2, no: 0 }]);
    assertSame(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 2 }]);
  });

  rule(
    'replaces the least recent name of an application beyond its limit, and counts the dropped ones',
    async (usage) => {
      const [first = '', ...rest] = namesOf(LIMITS.unknownNamesPerApplication);
      const dropped = [];
      for (const [index, name] of [first, ...rest].entries()) {
        await record(usage, report({ unknown: once(name) }), { at: NOW + index });
      }
      await record(usage, report({ counts: [], unknown: once(first) }), { at: NOW + SECOND });
      await record(usage, report({ application: 'other', counts: [], unknown: once('theirs') }));
      dropped.push(await record(usage, report({ counts: [], unknown: once('z1') }), { at: NOW + SECOND + 1 }));
      const last = report({ counts: [], unknown: once('z2'), droppedNames: 5 });
      dropped.push(await record(usage, last, { at: NOW + SECOND + 1 }));
      assertSame(await flagsOf(usage, 'shop'), ['checkout', first, ...rest.slice(2), 'z1', 'z2']);
      assert.equal((await applicationOf(usage, 'shop'))?.droppedNames, 7);
      assert.equal((await applicationOf(usage, 'other'))?.droppedNames, 0);
      assertSame(
        dropped.map(({ names }) => names),
        [1, 6],
      );
      const counted = (await countsIn(usage)).map(({ flag }) => flag);
      assertSame(counted, ['checkout', first, ...rest.slice(2), 'theirs', 'z1', 'z2']);
    },
  );

  rule('keeps the limit with concurrent callers', async (usage, again) => {
    const instances = [usage, await again()];
    const recordAs = (caller: number) =>
      record(instances[caller % 2] ?? usage, report({ counts: [], unknown: once(...namesOf(20, `caller-${caller}`)) }));
    await Promise.all(Array.from({ length: 30 }, (_, caller) => recordAs(caller)));
    await record(usage, report({ counts: [], unknown: once('last') }), { at: NOW + 1 });
    const flags = await flagsOf(usage, 'shop');
    assert.equal(flags.length, LIMITS.unknownNamesPerApplication);
    assert.equal(flags.includes('last'), true);
    assert.equal((await applicationOf(usage, 'shop'))?.droppedNames, 501);
  });

  rule('forgets unknown names like flags, and with their application', async (usage) => {
    await record(usage, report({ counts: [], unknown: once('a', 'b'), droppedNames: 1 }));
    await usage.forget({ flags: ['a'] });
    assertSame(await flagsOf(usage, 'shop'), ['b']);
    assertSame(await countsIn(usage), once('b'));
    await usage.forget({ application: 'shop' });
    await register(usage, registration());
    assertSame([await flagsOf(usage, 'shop'), (await applicationOf(usage, 'shop'))?.droppedNames], [[], 0]);
    assertSame(await countsIn(usage), []);
  });

  rule('prunes unknown names that were last reported before the given time', async (usage) => {
    await record(usage, report({ counts: [], unknown: once('old') }), { at: NOW - MINUTE });
    await record(usage, report({ counts: [], unknown: once('new') }));
    await usage.prune({ now: NOW, unseen: { since: NOW, isFlag: () => false } });
    assertSame(await flagsOf(usage, 'shop'), ['new']);
  });

  rule('counts a name of many seconds', async (usage) => {
    const reports = Array.from({ length: 120 }, (_, age) =>
      report({ stop: NOW - age * SECOND, counts: [], unknown: once('name') }),
    );
    await record(usage, reports);
    for (const [from, expected] of [
      [NOW - 59 * SECOND, 60],
      [NOW - 119 * SECOND, 120],
    ] as const) {
      const counts = await usage.sum({ resolution: 'second', by: ['flag'], from });
      assertSame(counts, [{ flag: 'name', yes: expected, no: 0 }]);
    }
    assertSame(await countsIn(usage), [{ flag: 'name', yes: 120, no: 0 }]);
  });
}
