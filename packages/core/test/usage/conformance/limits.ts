import assert from 'node:assert/strict';
import { LIMITS } from '../../../src/base/limits.js';
import type { Reporter, UsageStorage } from '../../../src/storage/usage/port.js';
import { MINUTE } from '../../../src/storage/usage/rules.js';
import { assertEqual } from '../../../src/testing/test-runner.js';
import {
  applicationOf,
  applicationsIn,
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
  SECOND,
  seenTimes,
  type UsageRule,
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
function storedOf(usage: UsageStorage, ...names: readonly string[]): Promise<string[]> {
  return applicationsIn(usage, { names });
}

export function limitRules(rule: UsageRule): void {
  rule('does not store applications beyond the limit, but counts their flags', async (usage) => {
    await fillExcept(usage, 0);
    const further = report({ application: 'further', counts: once('a'), unknown: once('b') });
    assertEqual(await record(usage, further), { names: 0, reports: 1, usage: 0 });
    const registered = await register(usage, registration({ application: 'further' }));
    assertEqual(registered, { names: 0, reports: 1, usage: 0 });
    await record(usage, report({ application: 'name-10000', counts: once('a') }));
    assert.equal(await applicationOf(usage, 'further'), undefined);
    assertEqual(await pairsIn(usage), [{ application: 'name-10000', flag: 'a', count: 1 }]);
    assertEqual(await countsIn(usage), [{ flag: 'a', yes: 2, no: 0 }]);
    assert.equal((await usage.lastSeen(['a'])).get('a'), NOW);
    assert.equal(await countOf(usage), LIMITS.applications);
    await usage.forget({ application: 'name-10001' });
    await register(usage, registration({ application: 'further' }));
    assertEqual(await storedOf(usage, 'further'), ['further']);
  });

  rule('drops the least recently seen instances beyond the limit', async (usage) => {
    const ids = namesOf(LIMITS.instancesPerApplication);
    const [first = '', second = '', third = '', ...others] = ids;
    for (const [index, id] of [first, second, third].entries()) {
      await register(usage, registration({ instance: { id } }), { at: NOW + index });
    }
    const later = others.map((id) => registration({ instance: { id } }));
    await register(usage, later, { at: NOW + SECOND });
    await record(usage, report({ instance: { id: first } }), { at: NOW + MINUTE });
    await register(usage, registration({ instance: { id: 'new' } }), { at: NOW + MINUTE });
    await record(usage, report({ instance: { id: 'newer' } }), { at: NOW + MINUTE });
    const kept = (await applicationOf(usage, 'shop'))?.instances?.map(({ id }) => id);
    assertEqual(kept, [first, ...others, 'new', 'newer']);
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
      assertEqual(await countsIn(usage), once('a'));
      // Known ones are still updated, and others have bounds of their own.
      await record(usage, report({ application: 'name-10000' }), { at: NOW + MINUTE, reporter });
      assert.equal((await applicationOf(usage, 'name-10000'))?.seenAt, NOW + MINUTE);
      await record(usage, report({ application: 'theirs' }), { reporter: { ...reporter, token: 'another' } });
      await record(usage, report({ application: 'ours' }));
      assert.equal(await countOf(usage), limit + 2);
      await usage.forget({ application: 'name-10001' });
      await register(usage, registration({ application: 'further' }), { reporter });
      assertEqual(await storedOf(usage, 'further'), ['further']);
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
    assertEqual([await countOf(usage), dropped.reports], [101, 0]);
  });

  rule('displaces no application of a public token for another reporter', async (usage) => {
    await fillExcept(usage, 1);
    await record(usage, report({ application: 'page' }), { reporter: PAGE });
    const at = NOW + MINUTE;
    const further = report({ application: 'ours', stop: at, counts: once('a'), unknown: once('b') });
    assertEqual(await record(usage, further, { at, reporter: SERVER }), { names: 0, reports: 1, usage: 0 });
    assertEqual(await storedOf(usage, 'page', 'ours'), ['page']);
    assertEqual((await countsIn(usage))[0], { flag: 'a', yes: 1, no: 0 });
    assertEqual(await seenTimes(usage, 'a'), [['a', at]]);
    assert.equal(await countOf(usage), LIMITS.applications);
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
    assertEqual(await flagsOf(usage, 'shop'), ['ours', theirs[0], ...theirs.slice(3), 'z', 'zz']);
  });
}

export function rowRules(rule: UsageRule): void {
  rule('keeps what is within the bounds when it prunes', async (usage) => {
    await record(usage, report({ counts: once(...namesOf(100)), unknown: once(...namesOf(100, 'unknown')) }));
    assertEqual(await usage.prune({ now: NOW }), { names: 0, reports: 0, usage: 0 });
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
    assertEqual(dropped, { names: 3, reports: 0, usage: 0 });
    assertEqual(await flagsOf(usage, 'page'), []);
    assertEqual(await flagsOf(usage, 'one'), ['u', 'v', 'w']);
    assert.equal((await flagsOf(usage, 'shop')).length, perApplication - 2);
    assert.equal((await applicationOf(usage, 'page'))?.droppedNames, 2);
    assertEqual(
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
    const known = once('banner', 'checkout');
    const all = [...known, { flag: 'chekcout', yes: 4, no: 6 }];
    for (const resolution of ['minute', 'ever'] as const) assertEqual(await countsIn(usage, resolution), all);
    for (const resolution of ['hour', 'day'] as const) assertEqual(await countsIn(usage, resolution), known);
    assertEqual(await seenTimes(usage, 'chekcout', 'checkout'), [['checkout', NOW]]);
  });

  rule('adds the counts of an unknown name to those of a flag with that name', async (usage) => {
    await record(usage, report({ counts: [], unknown: once('checkout') }));
    await record(usage, report());
    for (const resolution of ['minute', 'ever'] as const) {
      assertEqual(await countsIn(usage, resolution), [{ flag: 'checkout', yes: 2, no: 0 }]);
    }
  });

  rule('replaces the least recent name of an application beyond its limit, and counts dropped ones', async (usage) => {
    const [first = '', ...rest] = namesOf(LIMITS.unknownNamesPerApplication);
    for (const [index, name] of [first, ...rest].entries()) {
      await record(usage, report({ unknown: once(name) }), { at: NOW + index });
    }
    await record(usage, report({ counts: [], unknown: once(first) }), { at: NOW + SECOND });
    await record(usage, report({ application: 'other', counts: [], unknown: once('theirs') }));
    const one = await record(usage, report({ counts: [], unknown: once('z1') }), { at: NOW + SECOND + 1 });
    const last = report({ counts: [], unknown: once('z2'), droppedNames: 5 });
    const other = await record(usage, last, { at: NOW + SECOND + 1 });
    assertEqual([one.names, other.names], [1, 6]);
    assertEqual(await flagsOf(usage, 'shop'), ['checkout', first, ...rest.slice(2), 'z1', 'z2']);
    assert.equal((await applicationOf(usage, 'shop'))?.droppedNames, 7);
    assert.equal((await applicationOf(usage, 'other'))?.droppedNames, 0);
    const counted = (await countsIn(usage)).map(({ flag }) => flag);
    assertEqual(counted, ['checkout', first, ...rest.slice(2), 'theirs', 'z1', 'z2']);
  });

  rule('keeps the limit with concurrent callers', async (usage, again) => {
    const instances = [usage, await again()];
    const recordAs = (caller: number) =>
      record(instances[caller % 2] ?? usage, report({ counts: [], unknown: once(...namesOf(20, `caller-${caller}`)) }));
    await Promise.all(Array.from({ length: 30 }, (_, caller) => recordAs(caller)));
    await record(usage, report({ counts: [], unknown: once('last') }), { at: NOW + 1 });
    const flags = await flagsOf(usage, 'shop');
    assertEqual([flags.length, flags.includes('last')], [LIMITS.unknownNamesPerApplication, true]);
    assert.equal((await applicationOf(usage, 'shop'))?.droppedNames, 501);
  });

  rule('forgets unknown names like flags, and with their application', async (usage) => {
    await record(usage, report({ counts: [], unknown: once('a', 'b'), droppedNames: 1 }));
    await usage.forget({ flags: ['a'] });
    assertEqual([await flagsOf(usage, 'shop'), await countsIn(usage)], [['b'], once('b')]);
    await usage.forget({ application: 'shop' });
    await register(usage, registration());
    assertEqual([await flagsOf(usage, 'shop'), (await applicationOf(usage, 'shop'))?.droppedNames], [[], 0]);
    assertEqual(await countsIn(usage), []);
  });

  rule('prunes unknown names that were last reported before the given time', async (usage) => {
    await record(usage, report({ counts: [], unknown: once('old') }), { at: NOW - MINUTE });
    await record(usage, report({ counts: [], unknown: once('new') }));
    await usage.prune({ now: NOW, unseen: { since: NOW, isFlag: () => false } });
    assertEqual(await flagsOf(usage, 'shop'), ['new']);
  });

  rule('counts a name that many reports have', async (usage) => {
    const stops = Array.from({ length: 120 }, (_, age) => NOW - age * SECOND);
    await record(
      usage,
      stops.map((stop) => report({ stop, counts: [], unknown: once('name') })),
    );
    assertEqual(await countsIn(usage, 'minute'), [{ flag: 'name', yes: 120, no: 0 }]);
  });
}
