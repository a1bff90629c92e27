import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import type { FlagDefinition, SegmentDefinition, StrategyDefinition } from '../../src/evaluation/definitions.types.js';
import type { EvaluationContext } from '../../src/evaluation/evaluation.types.js';
import type { Snapshot, SnapshotChange } from '../../src/evaluation/snapshot.js';
import {
  arbitraryContext,
  arbitraryFlag,
  arbitraryFlags,
  arbitrarySegment,
  arbitrarySegments,
  FLAG_NAMES,
  SEGMENT_IDS,
} from './arbitrary-documents.js';
import { flag, lazySnapshotOf, rollout, snapshotOf, weighted } from './one-flag.js';

const change: fc.Arbitrary<SnapshotChange> = fc.record(
  {
    flags: fc.array(arbitraryFlag(fc.constantFrom(...FLAG_NAMES)), { maxLength: 2 }),
    removedFlags: fc.array(fc.constantFrom(...FLAG_NAMES, 'never-there'), { maxLength: 2 }),
    segments: fc.array(arbitrarySegment, { maxLength: 2 }),
    removedSegments: fc.array(fc.constantFrom(...SEGMENT_IDS), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

/** Returns the documents after a change, in the simplest way. */
class Documents {
  constructor(
    readonly flags: ReadonlyMap<string, FlagDefinition>,
    readonly segments: ReadonlyMap<number, SegmentDefinition>,
  ) {}

  with(change: SnapshotChange): Documents {
    const { flags = [], removedFlags = [], segments = [], removedSegments = [] } = change;
    const nextFlags = new Map([...this.flags].filter(([name]) => !removedFlags.includes(name)));
    for (const one of flags) nextFlags.set(one.name, one);
    const nextSegments = new Map([...this.segments].filter(([id]) => !removedSegments.includes(id)));
    for (const one of segments) nextSegments.set(one.id, one);
    return new Documents(nextFlags, nextSegments);
  }

  compiled(): Snapshot {
    return snapshotOf([...this.flags.values()], { segments: [...this.segments.values()], random: () => 0 });
  }
}

const answers = (snapshot: Snapshot, contexts: readonly EvaluationContext[]) => ({
  names: [...snapshot.names()].sort(),
  size: [...snapshot.names()].length,
  explained: contexts.map((context) => FLAG_NAMES.map((name) => snapshot.explain(name, context))),
  evaluated: contexts.map((context) => FLAG_NAMES.map((name) => snapshot.evaluate(name, context))),
});

describe('a snapshot after changes', () => {
  it('has the resulting documents, and earlier snapshots do not change', () => {
    const contexts = fc.array(arbitraryContext, { minLength: 1, maxLength: 2 });
    const changes = fc.array(change, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(arbitraryFlags, arbitrarySegments, changes, contexts, (flags, segments, steps, users) => {
        let documents = new Documents(
          new Map(flags.map((one) => [one.name, one])),
          new Map(segments.map((one) => [one.id, one])),
        );
        let snapshot = documents.compiled();
        const history: [Snapshot, unknown][] = [];
        for (const step of steps) {
          history.push([snapshot, answers(snapshot, users)]);
          documents = documents.with(step);
          snapshot = snapshot.with(step);
          expect(answers(snapshot, users)).toEqual(answers(documents.compiled(), users));
        }
        for (const [before, itsAnswers] of history) expect(answers(before, users)).toEqual(itsAnswers);
      }),
      { numRuns: extent({ short: 50, full: 750 }) },
    );
  });

  it('has the resulting documents where parts of flags stay the same objects', () => {
    const contexts = fc.array(arbitraryContext, { minLength: 1, maxLength: 2 });
    const segments = fc.tuple(arbitrarySegments, fc.array(arbitrarySegment, { maxLength: 2 }));
    fc.assert(
      fc.property(arbitraryFlags, segments, contexts, (flags, [before, after], users) => {
        const documents = new Documents(
          new Map(flags.map((one) => [one.name, one])),
          new Map(before.map((one) => [one.id, one])),
        );
        const step = { flags: flags.map((one) => ({ ...one, enabled: !one.enabled })), segments: after };
        const changed = documents.compiled().with(step);
        expect(answers(changed, users)).toEqual(answers(documents.with(step).compiled(), users));
      }),
      { numRuns: extent({ short: 50, full: 750 }) },
    );
  });

  it('has the given definitions', () => {
    const [given, other] = [flag(), flag({ enabled: false })];
    const snapshot = snapshotOf([given]);
    expect(snapshot.definition('checkout')).toBe(given);
    expect(snapshot.with({ flags: [other] }).definition('checkout')).toBe(other);
    expect(snapshot.definition('unknown')).toBeUndefined();
  });

  it('reports no problem without changes', () => {
    const problems: unknown[] = [];
    const snapshot = snapshotOf([flag({ impressionData: true })], { onProblem: (problem) => problems.push(problem) });
    const after = snapshot
      .with({})
      .with({ removedFlags: ['never-there'] })
      .with({ removedSegments: [7] });
    expect(after.isEnabled('checkout')).toBe(true);
    expect([...after.names()]).toEqual(['checkout']);
    expect(problems).toEqual([]);
  });

  it('has many more flags than the previous one, which does not have them', () => {
    const base = snapshotOf([flag()]);
    const many = base.with({ flags: Array.from({ length: 200 }, (_, at) => flag({ name: `flag-${at}` })) });
    expect(many.isEnabled('flag-199')).toBe(true);
    expect(base.isEnabled('flag-199', {}, true)).toBe(true);
    expect(base.evaluate('flag-199')).toBeUndefined();
    expect([[...base.names()].length, [...many.names()].length]).toEqual([1, 201]);
  });

  it('can be made twice from one snapshot: the two are independent', () => {
    const base = snapshotOf([flag()]);
    const left = base.with({ flags: [flag({ name: 'left' })] });
    const right = base.with({ flags: [flag({ name: 'right', strategies: [{ name: 'default', segments: [1] }] })] });
    expect([...left.names()]).toEqual(['checkout', 'left']);
    expect([...right.names()]).toEqual(['checkout', 'right']);
    const shown = left.with({ segments: [{ id: 1, constraints: [] }] });
    expect(shown.isEnabled('right')).toBe(false);
    expect(right.with({ segments: [{ id: 1, constraints: [] }] }).isEnabled('right')).toBe(true);
  });

  it('compiles only the changed flags', () => {
    const untouched = flag({ name: 'untouched' });
    let reads = 0;
    Object.defineProperty(untouched, 'strategies', {
      get: () => {
        reads++;
        return [rollout(50)];
      },
    });
    const snapshot = snapshotOf([untouched, flag({ strategies: [{ name: 'default', segments: [1] }] })]);
    const readsWhenCompiled = reads;
    const after = snapshot
      .with({ flags: [flag({ enabled: false })] })
      .with({ segments: [{ id: 1, constraints: [] }] })
      .with({ removedFlags: ['checkout'] });
    expect([...after.names()]).toEqual(['untouched']);
    expect(reads).toBe(readsWhenCompiled);
  });
});

describe('the variants of a flag after several changes', () => {
  const variants = weighted(1000);
  const broken = { constraints: 'none' } as unknown as Partial<StrategyDefinition>;
  const variantOf = (snapshot: Snapshot) => snapshot.getVariant('checkout', { userId: 'ada' }).name;

  it('are unchanged after a broken flag is repaired with the same definition', () => {
    const good = snapshotOf([flag({ variants })]);
    const bad = good.with({ flags: [flag({ variants, strategies: [{ name: 'default', ...broken }] })] });
    const mended = bad.with({ flags: [flag({ variants })] });
    expect([good, bad, mended].map(variantOf)).toEqual(['variant-0', 'disabled', 'variant-0']);
  });
});

describe('flags that are compiled when they are first evaluated', () => {
  const users = flag({ strategies: [{ name: 'default', segments: [1] }] });
  const segments = [{ id: 1, constraints: [] }];

  it('report their problems then, once', () => {
    const problems: string[] = [];
    const strategies = [{ name: 'mystery' }];
    const flags = [flag(), flag({ name: 'broken', strategies })];
    const snapshot = lazySnapshotOf(flags, { onProblem: ({ code }) => problems.push(code) });
    expect([...snapshot.names()]).toEqual(['checkout', 'broken']);
    expect(snapshot.definition('broken')).toBe(flags[1]);
    expect(problems).toEqual([]);
    expect(['checkout', 'broken', 'broken'].map((name) => snapshot.isEnabled(name))).toEqual([true, false, false]);
    expect(problems).toEqual(['unknown_strategy']);
    expect(snapshot.definition('broken')).toBe(flags[1]);
  });

  it('are compiled once, while other flags change', () => {
    let reads = 0;
    const strategies = [rollout(100)];
    const counted = Object.defineProperty(flag(), 'strategies', {
      get: () => {
        reads++;
        return strategies;
      },
    });
    const first = lazySnapshotOf([counted]);
    expect(reads).toBe(0);
    first.isEnabled('checkout');
    const readsWhenCompiled = reads;
    expect(first.with({ flags: [flag({ name: 'other' })], segments }).isEnabled('checkout')).toBe(true);
    expect([first.isEnabled('checkout'), reads]).toEqual([true, readsWhenCompiled]);
  });

  it.each([[[0, 1, 2, 3]], [[3, 2, 1, 0]], [[2, 0, 3, 1]]])(
    'use the segments of their snapshot, evaluated in the order %j',
    (order) => {
      const first = lazySnapshotOf([users]);
      const second = first.with({ flags: [flag({ name: 'other' })] });
      const third = second.with({ segments });
      const fourth = third.with({ removedSegments: [1] });
      const snapshots = [first, second, third, fourth];
      const answers: (boolean | undefined)[] = [];
      for (const at of order) answers[at] = snapshots[at]?.isEnabled('checkout');
      expect(answers).toEqual([false, false, true, false]);
    },
  );

  it('are shared with an earlier snapshot', () => {
    const first = lazySnapshotOf([flag(), flag({ name: 'gone' })]);
    const second = first.with({ flags: [flag({ enabled: false })], removedFlags: ['gone'] });
    expect(['checkout', 'gone'].map((name) => second.isEnabled(name))).toEqual([false, false]);
    expect(['checkout', 'gone'].map((name) => first.isEnabled(name))).toEqual([true, true]);
    const branch = first.with({ segments });
    expect(['checkout', 'gone'].map((name) => branch.isEnabled(name))).toEqual([true, true]);
  });
});

describe('a disabled flag', () => {
  const variants = weighted(1000);
  const off = flag({ enabled: false, strategies: [rollout(100)], variants });
  const context = { userId: '7' };

  it('shows the results of its strategies', () => {
    const snapshot = snapshotOf([off]);
    expect(snapshot.explain('checkout', context)).toMatchObject({ enabled: false, reason: 'disabled' });
    expect(snapshot.rollouts('checkout', context)).toMatchObject([{ rollout: { holds: true } }]);
  });

  it('has results again when it is on, although its definition has the same parts', () => {
    const snapshot = snapshotOf([off]).with({ flags: [{ ...off, enabled: true }] });
    expect(snapshot.getVariant('checkout', context)).toMatchObject({ name: 'variant-0', flagEnabled: true });
    expect(snapshot.with({ flags: [off] }).isEnabled('checkout', context)).toBe(false);
  });

  it('is reported with its problems', () => {
    const problems: string[] = [];
    const constraints = [{ contextName: 'userId', operator: 'NO', values: [] } as never];
    const strategies = [{ name: 'default', segments: [9], constraints }];
    snapshotOf([{ ...off, strategies }], { onProblem: ({ code }) => problems.push(code) });
    expect(problems.sort()).toEqual(['missing_segment', 'unknown_operator']);
  });
});

describe('a snapshot with a change', () => {
  it('keeps no earlier snapshot alive', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');
    const first = new WeakRef(snapshotOf([flag()]).with({ flags: [flag({ name: 'other' })] }));
    const last = first
      .deref()
      ?.with({ segments: [{ id: 1, constraints: [] }] })
      .with({ flags: [flag()] });
    await setImmediate();
    collectGarbage();
    expect(first.deref()).toBeUndefined();
    expect(last?.isEnabled('other')).toBe(true);
  });
});

describe('an earlier snapshot', () => {
  it('keeps its results through many changes, and can be changed itself', () => {
    const first = snapshotOf([flag({ enabled: false }), flag({ name: 'gone' })]);
    let latest = first.with({ flags: [flag()], removedFlags: ['gone'] });
    const second = latest;
    for (let at = 0; at < 100; at++) {
      latest = latest.with({ flags: [flag({ name: `passing-${at}` })], removedFlags: [`passing-${at - 1}`] });
    }
    expect(['checkout', 'gone', 'passing-0'].map((name) => first.evaluate(name)?.enabled)).toEqual([
      false,
      true,
      undefined,
    ]);
    expect(['checkout', 'gone', 'passing-0'].map((name) => second.evaluate(name)?.enabled)).toEqual([
      true,
      undefined,
      undefined,
    ]);
    expect([first, second, latest].map((one) => [...one.names()].sort())).toEqual([
      ['checkout', 'gone'],
      ['checkout'],
      ['checkout', 'passing-99'],
    ]);
    const branch = first.with({ removedFlags: ['checkout'] });
    expect([first, branch, latest].map((one) => one.isEnabled('checkout', {}, true))).toEqual([false, true, true]);
  });
});
