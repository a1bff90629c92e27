import type { PartDifference } from '../../src/base/parts.js';
import {
  type ComparedDocument,
  cutToDifference,
  describeDifferences,
  describeDocument,
  describePath,
  differenceText,
  type Names,
  nameStrategies,
} from '../../src/words/describe-differences.js';
import { describeConstraint, describeStrategy } from '../../src/words/describe-strategy.js';

const constraint = { contextName: 'country', operator: 'IN', values: ['DE'] };
const rollout = {
  id: 's1',
  name: 'flexibleRollout',
  parameters: { rollout: '25', groupId: 'checkout' },
  constraints: [constraint],
};
const everyone = { id: 's2', name: 'default', parameters: {}, constraints: [] };

const live = (strategies: readonly object[], enabled = true) => ({
  environments: [{ name: 'live', enabled, strategies }],
});

const linesOf = (document: ComparedDocument, names?: Names) => describeDifferences(document, names).map(differenceText);
const flag = (before: unknown, after: unknown) => ({ kind: 'flag', id: 'checkout', before, after });

describe('a strategy in words', () => {
  it.each([
    [{ operator: 'IN', values: ['DE', 'AT'] }, 'country is one of DE, AT'],
    [{ operator: 'IN', values: ['DE'], inverted: true }, 'country is not one of DE'],
    [{ operator: 'NUM_GTE', value: '3', values: [] }, 'country ≥ 3'],
    [
      { operator: 'STR_CONTAINS', values: ['a', 'b', 'c', 'd', 'e'], caseInsensitive: true },
      'country contains a, b, c and 2 more (any case)',
    ],
    [{ operator: 'FUTURE', values: ['x'] }, 'country FUTURE x'],
    [{ operator: 'IN', values: ['DE'], caseInsensitive: true }, 'country is one of DE (IN always compares case)'],
    [
      { operator: 'DATE_AFTER', value: '2026-01-01' },
      'country is after 2026-01-01 (DATE_AFTER compares currentTime, not country)',
    ],
  ])('describes %j as "%s"', (condition, words) => {
    expect(describeConstraint({ contextName: 'country', ...condition })).toBe(words);
  });

  it('is described in one line', () => {
    expect(describeStrategy({ ...rollout, segments: [3] })).toBe(
      'Gradual rollout 25 %, segment 3, country is one of DE',
    );
    expect(describeStrategy({ ...rollout, title: 'Europe', segments: [3] }, () => 'EU')).toBe(
      'Europe, Gradual rollout 25 %, EU, country is one of DE',
    );
    expect(describeStrategy({ name: 'userWithId', parameters: { userIds: '1,2' }, constraints: [] })).toBe(
      'User IDs, userIds 1, 2',
    );
  });

  it('names what has no effect, once, also in a difference', () => {
    const constraint = { contextName: 'country', operator: 'IN', values: ['DE'], caseInsensitive: true };
    expect(describeStrategy({ ...rollout, constraints: [constraint] }, undefined, [])).toBe(
      'Gradual rollout 25 %, country is one of DE (IN always compares case)',
    );
    const { caseInsensitive: _, ...before } = constraint;
    const strategies = (one: object) => live([{ ...everyone, constraints: [one] }]);
    expect(linesOf(flag(strategies(before), strategies(constraint)))).toEqual([
      expect.stringMatching(/country is one of · caseInsensitive no → yes \(IN always compares case\)$/),
    ]);
    const time = { contextName: 'end', operator: 'DATE_AFTER', value: '2026-01-01' };
    expect(linesOf(flag(strategies(time), strategies({ ...time, value: '2026-01-02' })))).toEqual([
      expect.stringContaining('end is after (DATE_AFTER compares currentTime, not end) 2026-01-01 → 2026-01-02'),
    ]);
  });

  it('names what the host does not know', () => {
    const own = ['weekend'];
    const inWords = (name: string, parameters: Readonly<Record<string, unknown>>) =>
      describeStrategy({ name, parameters, constraints: [] }, undefined, own);
    expect(inWords('flexibleRolout', {})).toBe('flexibleRolout (unknown here: never on)');
    expect(inWords('flexibleRollout', { rolout: 50 })).toBe(
      'Gradual rollout 0 % (unknown parameter rolout), rolout 50',
    );
    expect(inWords('weekend', { only: true })).toBe('weekend, only true');
    expect(inWords('flexibleRollout', { rollout: 50 })).toBe('Gradual rollout 50 %');
  });

  it.each([
    [{}, 'Everyone'],
    [{ constraints: [{ contextName: 'country', operator: 'IN', values: ['DE', 'AT'] }] }, 'Users with country DE, AT'],
    [{ segments: [3] }, 'Users in EU'],
    [
      {
        segments: [3],
        constraints: [
          { contextName: 'plan', operator: 'IN', values: ['pro'] },
          { contextName: 'age', operator: 'NUM_GTE', value: '18' },
          { contextName: 'country', operator: 'IN', values: ['US'], inverted: true },
        ],
      },
      'Users in EU with plan pro whose age ≥ 18 and country is not one of US',
    ],
    [
      { constraints: [{ contextName: 'currentTime', operator: 'DATE_AFTER', value: '2026-03-01T12:00:00Z' }] },
      'Everyone while currentTime is after 2026-03-01T12:00:00Z',
    ],
    [
      {
        constraints: ['a', 'b', 'c', 'd', 'e'].map((contextName) => ({ contextName, operator: 'IN', values: ['1'] })),
      },
      'Users with a 1 and b 1 and c 1 and 2 more',
    ],
  ])('is titled by its conditions if it is `default`: %j', (conditions, title) => {
    const strategy = { name: 'default', parameters: {}, constraints: [], ...conditions };
    expect(describeStrategy(strategy, () => 'EU')).toBe(title);
  });

  it.each(['__proto__', 'constructor', 'toString'])('has the name %s', (name) => {
    expect(describeStrategy({ name, parameters: {}, constraints: [] })).toBe(name);
  });
});

describe('the differences of a plan', () => {
  it('are described part by part, also for a new document', () => {
    expect(linesOf(flag({ environments: [] }, live([everyone])))).toEqual([
      'live · enabled off → on',
      'live · strategy Everyone',
    ]);
    const changed = { ...rollout, parameters: { ...rollout.parameters, rollout: '50' } };
    expect(linesOf(flag(live([rollout]), live([everyone, { ...changed, sortOrder: 7 }], false)))).toEqual([
      'live · enabled on → off',
      'live · strategy 2, Gradual rollout 25 % → 50 %',
      'live · strategy Everyone',
    ]);
    expect(linesOf(flag(live([rollout, everyone]), live([everyone])))).toEqual([
      'live · strategy Gradual rollout 25 %, country is one of DE → none',
    ]);
    expect(linesOf(flag(live([rollout, everyone]), live([everyone, rollout])))).toEqual([
      'live · order Gradual rollout, Everyone → Everyone, Gradual rollout',
    ]);
  });

  it('cover parents, variants and the members of a project', () => {
    const parent = { flag: 'parent', enabled: true, variants: ['blue'] };
    const blue = { name: 'blue', weight: 500, weightType: 'fix', payload: { type: 'string', value: '#00f' } };
    expect(linesOf(flag({ dependencies: [parent] }, { variants: [blue] }))).toEqual([
      'dependencies · parent on, blue → none',
      'variants · blue 50 % fixed · string #00f',
    ]);
    expect(linesOf(flag({ variants: [blue] }, { variants: [{ ...blue, weight: 333 }] }))).toEqual([
      'variants · blue · weight 50 % → 33.3 %',
    ]);
    const project = { kind: 'project', id: 'shop', before: { members: [] } };
    const names = { role: (id: number) => (id === 1 ? 'Owner' : undefined) };
    expect(linesOf({ ...project, after: { members: [{ userId: 7, roleId: 1 }] } }, names)).toEqual([
      'members · 7 Owner',
    ]);
    expect(
      linesOf({
        ...project,
        before: { members: [{ userId: 7, roleId: 1 }] },
        after: { members: [{ userId: 7, roleId: 2 }] },
      }),
    ).toEqual(['members · 7 · roleId role 1 → role 2']);
  });

  it('include that a document is created, archived or deleted', () => {
    const stored = { name: 'checkout', project: 'shop', createdAt: '2026-01-01T00:00:00.000Z', stale: false };
    expect(linesOf(flag(null, { ...stored, labels: ['a', 'b'], ...live([everyone], false) }))).toEqual([
      'created, off in every environment',
      'project shop',
      'labels a, b',
      'live · strategy Everyone',
    ]);
    expect(linesOf(flag(null, { ...stored, ...live([everyone]) }))[0]).toBe('created');
    const archived = { ...stored, archived: true, archivedAt: '2026-01-02T00:00:00.000Z' };
    expect(linesOf(flag(stored, archived))).toEqual(['archived no → yes']);
    expect(linesOf(flag(archived, stored))).toEqual(['archived yes → no']);
    expect(linesOf(flag(stored, null))).toEqual(['deleted']);
    expect(
      linesOf({ kind: 'segment', id: '3', before: null, after: { name: 'EU', constraints: [constraint] } }),
    ).toEqual(['created', 'name EU', 'country is one of DE']);
  });
});

describe('the differences of constraints', () => {
  const segment = (before: readonly object[], after: readonly object[]) =>
    linesOf({ kind: 'segment', id: '3', before: { constraints: before }, after: { constraints: after } });

  it('are found by field and operator', () => {
    const plan = { contextName: 'plan', operator: 'STR_CONTAINS', values: ['pro'] };
    expect(segment([constraint, plan], [{ ...plan, values: ['free', 'pro'], inverted: true }])).toEqual([
      'country is one of DE → none',
      'plan contains pro → free, pro',
      'plan contains · inverted no → yes',
    ]);
    expect(segment([constraint], [{ ...constraint, operator: 'NOT_IN' }])).toEqual([
      'country is one of DE → none',
      'country is not one of DE',
    ]);
    const twice = [constraint, { ...constraint, values: ['AT'] }];
    expect(segment(twice, [constraint, { ...constraint, values: ['FR'] }])).toEqual(['country is one of AT → FR']);
  });

  it('list the added and removed values of a long list', () => {
    const long = { ...constraint, values: ['DE', 'AT', 'FR', 'NL', 'BE'] };
    expect(segment([long], [{ ...long, values: ['DE', 'AT', 'FR', 'NL', 'CH', 'IT'] }])).toEqual([
      'country is one of − BE → + CH, IT',
    ]);
    expect(segment([long], [{ ...long, values: [...long.values, 'CH'] }])).toEqual(['country is one of + CH']);
    const users = { ...everyone, name: 'userWithId', parameters: { userIds: '1,2,3,4' } };
    expect(linesOf(flag(live([users]), live([{ ...users, parameters: { userIds: '1,2,3,4,5' } }])))).toEqual([
      'live · strategy 1, User IDs · userIds + 5',
    ]);
  });
});

describe('the differences of a history', () => {
  const id = '792d0000-0000-4000-8000-000000000000';
  const place = `/environments/production/strategies/${id}`;

  it('name segments, strategies and weights, never their ids', () => {
    const titled = { ...everyone, title: 'Staff' };
    const states = [{ environments: [{ name: 'production', strategies: [titled, { ...rollout, id }] }] }];
    const names = { segment: (one: number) => (one === 3 ? 'EU' : undefined), strategies: nameStrategies(states) };
    const parts = [
      { path: `${place}/segments`, before: [], after: [3, 4] },
      { path: '/environments/production/strategies/s2/parameters/userIds', before: '1', after: null },
      { path: '/variants/a~1b/weight', before: 500, after: 333 },
    ];
    expect(linesOf({ kind: 'flag', id: 'checkout', parts }, names)).toEqual([
      'production · strategy 2, Gradual rollout · segments EU, segment 4',
      'production · Staff · userIds 1 → none',
      'variants · a/b · weight 50 % → 33.3 %',
    ]);
    expect(describeDocument({ kind: 'segment', id: '3' }, names)).toBe('EU');
    expect(describeDocument({ kind: 'segment', id: '4' }, names)).toBe('segment 4');
  });

  it('name a deleted strategy by the events', () => {
    const path = `${place}/title`;
    expect(describePath(path, { strategies: nameStrategies([null, { ...rollout, id }]) })).toBe(
      'production · Gradual rollout · title',
    );
    expect(describePath(path)).toBe('production · a strategy · title');
  });
});

it('words a rollout as a part of its strategy', () => {
  const rollout = {
    steps: [
      { percentage: 5, hold: 5_400_000 },
      { percentage: 100, hold: null },
    ],
    step: 0,
    since: '2026-03-01T12:00:00.000Z',
    guarded: true,
  };
  const path = '/environments/production/rollouts/s-1';
  const document = (parts: readonly PartDifference[]) => ({ kind: 'flag', id: 'checkout', parts });
  const one = 'production · a strategy · rollout';
  const steps = '5 % for 90m, 100 % until advanced, guarded';
  expect(linesOf(document([{ path, before: null, after: rollout }]))).toEqual([`${one} ${steps}`]);
  expect(linesOf(document([{ path, before: rollout, after: null }]))).toEqual([`${one} ${steps} → none`]);
  const moved = [
    { path: `${path}/step`, before: 0, after: 1 },
    { path: `${path}/since`, before: rollout.since, after: '2026-03-02T12:00:00.000Z' },
    { path: `${path}/state`, before: 'running', after: 'paused' },
    { path: `${path}/failure`, before: null, after: { code: 'forbidden', message: 'No.', details: [] } },
  ];
  expect(linesOf(document(moved))).toEqual([
    `${one} · step 1 → 2`,
    `${one} · state running → paused`,
    `${one} · failure No.`,
  ]);
  const production = { name: 'production', enabled: true, strategies: [] };
  const planned = {
    kind: 'flag',
    id: 'checkout',
    before: { environments: [production] },
    after: { environments: [{ ...production, rollouts: { 's-1': rollout } }] },
  };
  expect(linesOf(planned)).toEqual([`${one} ${steps}`]);
});

it('words the states of a change request, and why it failed', () => {
  const failure = { code: 'flag_archived', message: 'The flag checkout is archived.', details: [] };
  const parts = [
    { path: '/id', before: 'a', after: 'a' },
    { path: '/state', before: 'approved', after: 'failed' },
    { path: '/endedAt', before: null, after: '2026-03-01T12:00:00.000Z' },
    { path: '/failure', before: null, after: failure },
  ];
  const request = { kind: 'change-request', id: 'a', parts };
  expect(describeDocument(request)).toBe('change request a');
  expect(linesOf(request)).toEqual(['state approved → failed', 'failure The flag checkout is archived.']);
});

it('shortens long texts to their differences', () => {
  const same = 'Words that stay as they are. '.repeat(20);
  const { before, after } = cutToDifference(`${same}One end.`, `${same}Another end.`);
  expect(before).toMatch(/^….{30,50}One end\.$/);
  expect(after).toMatch(/^….{30,50}Another end\.$/);
  expect(cutToDifference('short', 'shorter')).toEqual({ before: 'short', after: 'shorter' });
  expect(cutToDifference(`${same}one${same}`, `${same}two${same}`)).toEqual({
    before: expect.stringMatching(/^….{40}one.{40}…$/),
    after: expect.stringMatching(/^….{40}two.{40}…$/),
  });
  expect(cutToDifference(undefined, 'x'.repeat(500)).after).toBe(`${'x'.repeat(400)}…`);
});
