import { processorTime } from '../../../../test/processor-time.js';
import type {
  ConstraintDefinition,
  FlagDefinition,
  StrategyDefinition,
} from '../../src/evaluation/definitions.types.js';
import type { EvaluationProblem } from '../../src/evaluation/evaluated.types.js';
import type { SnapshotOptions } from '../../src/evaluation/snapshot.types.js';
import { flag, snapshotOf } from './one-flag.js';

const regex = (value: string, more: Partial<ConstraintDefinition> = {}): ConstraintDefinition => ({
  contextName: 'userId',
  operator: 'REGEX',
  value,
  ...more,
});
/** Weighs 304: three of them fit, four do not. */
const HEAVY = '[ab]*a[abc]{300}[!?]';
const heavy = (count: number): StrategyDefinition => ({
  name: 'default',
  constraints: Array.from({ length: count }, () => regex(HEAVY, { inverted: true })),
});
const TOO_COSTLY = expect.objectContaining({ code: 'too_costly', flag: 'checkout' });

function watched(flags: readonly FlagDefinition[], options: Partial<SnapshotOptions> = {}) {
  const problems: EvaluationProblem[] = [];
  const snapshot = snapshotOf(flags, { onProblem: (problem) => problems.push(problem), ...options });
  return { problems, snapshot };
}

describe('strategies that could take too long together', () => {
  it('do not hold from the one on that exceeds the limit, and are reported once', () => {
    const strategies = [heavy(2), heavy(2), heavy(1)];
    const { snapshot, problems } = watched([flag({ strategies: strategies.slice(1) })]);
    expect([snapshot.isEnabled('checkout', { userId: 'a' }), problems]).toEqual([true, []]);
    const [first, ...others] = strategies.map((strategy) => ({ ...strategy, disabled: strategy === strategies[0] }));
    const fine = snapshot.with({ flags: [flag({ strategies: [first as StrategyDefinition, ...others] })] });
    expect(fine.isEnabled('checkout', { userId: 'a' })).toBe(true);
    const more = fine.with({ flags: [flag({ strategies: [heavy(4), { name: 'default' }] })] });
    expect(more.isEnabled('checkout', { userId: 'a' })).toBe(false);
    expect(more.isEnabled('checkout', { userId: 'a' })).toBe(false);
    expect(problems).toEqual([TOO_COSTLY]);
    const { strategies: explained } = more.explain('checkout', { userId: 'a' });
    expect(explained[0]).toMatchObject({ holds: false, isTooCostly: true, constraints: [] });
  });

  it('hold again once there are fewer of them', () => {
    const [one, other] = [heavy(2), heavy(2)];
    const { snapshot } = watched([flag({ strategies: [{ ...one, disabled: false, name: 'unknown' }, other] })]);
    expect(snapshot.isEnabled('checkout', { userId: 'a' })).toBe(false);
    expect(snapshot.with({ flags: [flag({ strategies: [other] })] }).isEnabled('checkout', { userId: 'a' })).toBe(true);
  });

  it('count the segments that they use', () => {
    const constraints = [regex(HEAVY, { inverted: true }), regex(HEAVY, { inverted: true })];
    const uses = (...segments: number[]) => flag({ strategies: [{ name: 'default', segments }] });
    const segments = [1, 2].map((id) => ({ id, constraints }));
    expect(watched([uses(1)], { segments }).snapshot.isEnabled('checkout', { userId: 'a' })).toBe(true);
    const { snapshot, problems } = watched([uses(1, 2)], { segments });
    expect(snapshot.isEnabled('checkout', { userId: 'a' })).toBe(false);
    expect(problems).toEqual([TOO_COSTLY]);
  });

  it('are a segment, too, that never holds', () => {
    const { constraints = [] } = heavy(4);
    const flags = [flag({ strategies: [{ name: 'default', segments: [1] }] })];
    const { snapshot, problems } = watched(flags, { segments: [{ id: 1, constraints: constraints ?? [] }] });
    expect(snapshot.isEnabled('checkout', { userId: 'a' })).toBe(false);
    expect(problems).toEqual([expect.objectContaining({ code: 'too_costly', segment: 1 })]);
  });

  it('do not hold inverted either, whatever their patterns weigh', () => {
    for (const pattern of ['a{1000}b{1000}', 'a{1000}b', 'a{900}']) {
      const strategies = [{ name: 'default', constraints: [regex(pattern, { inverted: true })] }];
      const { snapshot } = watched([flag({ strategies })]);
      expect(snapshot.isEnabled('checkout', { userId: 'x' })).toBe(pattern === 'a{900}');
    }
  });

  it('are parents, too, that keep their child off', () => {
    const parents = [1, 2, 3].map((id) => flag({ name: `parent-${id}`, strategies: [heavy(3)] }));
    const child = (count: number) =>
      flag({ dependencies: parents.slice(0, count).map(({ name }) => ({ feature: name })) });
    const context = { userId: 'a' };
    expect(watched([...parents, child(2)]).snapshot.isEnabled('checkout', context)).toBe(true);
    const { snapshot, problems } = watched([...parents, child(3)]);
    expect(snapshot.isEnabled('checkout', context)).toBe(false);
    expect(snapshot.explain('checkout', context).reason).toBe('dependency');
    expect(problems).toEqual([TOO_COSTLY]);
  });
});

/** Anything that an admin could store for one flag, with the context that takes longest. */
const HOSTILE: readonly (readonly [string, readonly ConstraintDefinition[]])[] = [
  ['patterns of many states', [...'abc'].map((letter) => regex(`[ab]*${letter}[abc]{300}[!?]`, { inverted: true }))],
  ['twenty patterns', Array.from({ length: 20 }, (_, i) => regex(`[ab]*a[abc]{${20 + i}}[!?]`, { inverted: true }))],
  ['classes of Unicode', [regex('(?i)[^b]*a\\pL{98}[!?]', { inverted: true })]],
  ['nested repetitions', [regex('(?:[\\pL\\pN]{1,5}.*){10}[!?]', { inverted: true, caseInsensitive: true })]],
  [
    'lists of texts',
    ['STR_CONTAINS', 'STR_STARTS_WITH', 'STR_ENDS_WITH'].map((operator) => ({
      contextName: 'sessionId',
      operator,
      values: Array.from({ length: 50_000 }, (_, i) => `aaaab${i}`),
      caseInsensitive: true,
      inverted: true,
    })),
  ],
  [
    'networks',
    Array.from({ length: 2 }, () => ({
      contextName: 'remoteAddress',
      operator: 'IN_CIDR',
      values: Array.from({ length: 50_000 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`),
      inverted: true,
    })),
  ],
  [
    'numbers, versions and dates',
    Array.from({ length: 10_000 }, (_, i) => ({
      contextName: i % 3 === 2 ? 'currentTime' : 'sessionId',
      operator: ['NUM_EQ', 'SEMVER_EQ', 'DATE_AFTER'][i % 3] ?? '',
      value: ['7', '1.0.0', '2026-01-01'][i % 3] ?? '',
      inverted: true,
    })),
  ],
];

describe('the time of one evaluation', () => {
  it.each(HOSTILE)('is bounded with %s', (_case, constraints) => {
    const { snapshot, problems } = watched([flag({ strategies: [{ name: 'default', constraints }] })]);
    const letters = () => Array.from({ length: 500 }, () => 'abc'[Math.floor(Math.random() * 3)]).join('');
    const times = Array.from({ length: 9 }, () => {
      const long = { sessionId: 'a'.repeat(4096), remoteAddress: '172.16.0.1', currentTime: '1 ('.padEnd(4096, 'a') };
      const started = processorTime();
      snapshot.isEnabled('checkout', { userId: letters(), ...long });
      return processorTime() - started;
    });
    expect(problems.filter(({ code }) => code === 'too_costly')).toEqual([]);
    const median = times.sort((one, other) => one - other)[4] ?? 0;
    // About 20 ms by the limit.
    expect(median).toBeLessThan(100);
  });

  it('limits the cache of a pattern to some kilobytes', () => {
    const constraints = Array.from({ length: 30 }, (_, i) => regex(`[ab]*a[abc]{${10 + i}}[!?]`, { inverted: true }));
    const { snapshot } = watched([flag({ strategies: [{ name: 'default', constraints: constraints.slice(0, 20) }] })]);
    const letters = () => Array.from({ length: 500 }, () => 'abc'[Math.floor(Math.random() * 3)]).join('');
    snapshot.isEnabled('checkout', { userId: letters() });
    const before = process.memoryUsage().heapUsed;
    for (let calls = 0; calls < 40; calls++) snapshot.isEnabled('checkout', { userId: letters() });
    expect((process.memoryUsage().heapUsed - before) / 1024 / 1024).toBeLessThan(64);
  });
});
