import type {
  FlagDefinition,
  SegmentDefinition,
  StrategyDefinition,
  VariantDefinition,
} from '../../src/evaluation/definitions.types.js';
import { type EvaluationProblem, ProblemReporter, reasonOf } from '../../src/evaluation/problem.js';
import type { SnapshotOptions } from '../../src/evaluation/snapshot.js';
import { flag, rollout, snapshotOf } from './one-flag.js';

function watched(flags: readonly FlagDefinition[], options: Partial<SnapshotOptions> = {}) {
  const problems: EvaluationProblem[] = [];
  const snapshot = snapshotOf(flags, { onProblem: (problem) => problems.push(problem), ...options });
  return { problems, snapshot };
}

const constrained = (constraint: object) =>
  flag({ strategies: [{ name: 'default', constraints: [{ contextName: 'plan', operator: 'IN', ...constraint }] }] });

const parametrized = (name: string, parameters: object) =>
  flag({ strategies: [{ name, parameters: parameters as Readonly<Record<string, string>> }] });

describe('a problem', () => {
  it.each([
    ['broken_flag', flag({ strategies: 7 as never })],
    ['unknown_strategy', flag({ strategies: [{ name: 'mystery' }] })],
    ['missing_segment', flag({ strategies: [{ name: 'default', segments: [9] }] })],
    ['unknown_operator', constrained({ operator: 'LIKE' })],
    ['unusable_operand', constrained({ operator: 'REGEX', value: '(broken' })],
    ['unusable_operand', constrained({ operator: 'NUM_GT', value: 'many' })],
    ['too_costly', constrained({ operator: 'REGEX', value: 'a{51}' })],
    ['no_effect', constrained({ values: ['pro'], caseInsensitive: true })],
    ['no_effect', constrained({ operator: 'DATE_AFTER', value: '2026-01-01' })],
    ['no_effect', parametrized('flexibleRollout', { rollout: 50, stickiness: 'USERID' })],
    ['no_effect', flag({ variants: [{ name: 'a', weight: 1, stickiness: 'Default' }] })],
  ])('is reported once with its flag: %s', (code, broken) => {
    const { problems, snapshot } = watched([broken]);
    const again = snapshot.with({ flags: [broken] });
    again.isEnabled('checkout');
    expect(problems).toEqual([{ code, flag: 'checkout', message: expect.any(String) }]);
  });

  it.each([
    [constrained({ operator: 'LIKE' }), 'The operator LIKE is unknown: a constraint with it never holds.'],
    [constrained({ operator: 'NUM_GT', value: 'x' }), 'NUM_GT on plan has an invalid operand.'],
    [constrained({ operator: 'REGEX', value: 7 }), 'REGEX on plan has an invalid operand.'],
    [constrained({ operator: 'REGEX', value: ['a'] }), 'REGEX on plan has an invalid operand.'],
    [constrained({ operator: 'SEMVER_EQ', value: '1.2' }), 'SEMVER_EQ on plan has an invalid operand.'],
    [constrained({ operator: 'SEMVER_EQ', value: ['1.2.0'] }), 'SEMVER_EQ on plan has an invalid operand.'],
    [constrained({ values: 7 }), 'values of a constraint must be an array'],
    [constrained({ values: [{}] }), 'values of a constraint must be text'],
    [constrained({ contextName: {} }), 'contextName of a constraint must be text'],
    [parametrized('userWithId', { userIds: [] }), 'userIds must be text'],
    [parametrized('remoteAddress', { IPs: [] }), 'IPs must be text'],
    [parametrized('applicationHostname', { hostNames: [] }), 'hostNames must be text'],
    [parametrized('flexibleRollout', { rollout: 50, stickiness: [] }), 'stickiness must be text'],
    [parametrized('flexibleRollout', { rollout: 50, groupId: [] }), 'groupId must be text'],
  ])('describes the fault: %j', (broken, message) => {
    const { problems } = watched([broken]);
    expect(problems).toEqual([
      { code: expect.any(String), flag: 'checkout', message: expect.stringContaining(message) },
    ]);
  });

  it('is reported for a segment whose constraint has no effect', () => {
    const constraints = [{ contextName: 'plan', operator: 'IN', values: ['pro'], caseInsensitive: true }];
    const { problems } = watched([flag({ strategies: [{ name: 'default', segments: [3] }] })], {
      segments: [{ id: 3, constraints }],
    });
    const message = 'The segment 3: IN always compares case.';
    expect(problems).toEqual([{ code: 'no_effect', segment: 3, message }]);
  });

  it('is reported for a segment with its id, and the segment never holds', () => {
    const { problems, snapshot } = watched([flag({ strategies: [{ name: 'default', segments: [3] }] })], {
      segments: [{ id: 3, constraints: 7 as never }],
    });
    expect(problems).toEqual([{ code: 'broken_segment', segment: 3, message: expect.any(String) }]);
    expect(snapshot.isEnabled('checkout')).toBe(false);
  });

  it('is reported once when contexts cannot be read', () => {
    const context = Object.defineProperty({}, 'userId', {
      get: () => {
        throw new Error(`unlike ${Math.random()}`);
      },
    });
    const { problems, snapshot } = watched([flag({ strategies: [rollout(50)] })]);
    for (let call = 0; call < 3; call++) expect(snapshot.isEnabled('checkout', context)).toBe(false);
    expect(problems).toMatchObject([{ code: 'evaluation_failed', flag: 'checkout' }]);
  });

  it('is not thrown when the listener throws', () => {
    const onProblem = () => {
      throw new Error('listener');
    };
    const onImpression = onProblem;
    const { snapshot } = watched(
      [flag({ impressionData: true }), flag({ name: 'x', strategies: [{ name: 'mystery' }] })],
      {
        onProblem,
        onImpression,
      },
    );
    expect(snapshot.isEnabled('checkout')).toBe(true);
  });
});

describe('a strategy of the host', () => {
  const weekend = {
    name: 'weekend',
    isEnabled: ({ day }: { day?: unknown }, { userId }: { userId?: unknown }) => day === userId,
  };
  const strategies = [{ name: 'weekend', parameters: { day: 'sunday' } }];

  it('decides by its parameters and the context', () => {
    const { problems, snapshot } = watched([flag({ strategies })], { strategies: [weekend] });
    expect(snapshot.isEnabled('checkout', { userId: 'sunday' })).toBe(true);
    expect(snapshot.isEnabled('checkout', { userId: 'monday' })).toBe(false);
    expect(problems).toEqual([]);
  });

  it('replaces a built-in one', () => {
    const { snapshot } = watched([flag()], { strategies: [{ name: 'default', isEnabled: () => false }] });
    expect(snapshot.isEnabled('checkout')).toBe(false);
  });

  it('does not hold when it throws, and is reported once', () => {
    const failing = {
      name: 'weekend',
      isEnabled: () => {
        throw new Error('calendar');
      },
    };
    const { problems, snapshot } = watched([flag({ strategies: [...strategies, { name: 'default' }] })], {
      strategies: [failing],
    });
    for (let call = 0; call < 3; call++) expect(snapshot.isEnabled('checkout')).toBe(true);
    expect(problems).toEqual([
      { code: 'strategy_failed', flag: 'checkout', message: expect.stringContaining('calendar') },
    ]);
  });

  it('does not hold for an answer other than true: a promise cannot be awaited', () => {
    const waiting = { name: 'weekend', isEnabled: (async () => true) as never };
    const { snapshot } = watched([flag({ strategies })], { strategies: [waiting] });
    expect(snapshot.isEnabled('checkout')).toBe(false);
  });
});

/** The problems of definitions as another service might send them, and of one evaluation of each kind. */
function problemsOf(flags: readonly unknown[], options: Partial<SnapshotOptions> = {}): EvaluationProblem[] {
  const problems: EvaluationProblem[] = [];
  const onProblem = (problem: EvaluationProblem) => problems.push(problem);
  const snapshot = snapshotOf(flags as readonly FlagDefinition[], { ...options, onProblem });
  snapshot.isEnabled('checkout');
  snapshot.getVariant('checkout');
  return problems.filter(({ code }) => code !== 'unknown_flag');
}

const broken = (changes: object) => ({ ...flag(), ...changes });
const withVariant = (changes: object) =>
  broken({ variants: [{ name: 'blue', weight: 1, ...changes }] as VariantDefinition[] });
const withOverride = (override: object) => withVariant({ overrides: [override] });
const withStrategy = (changes: object) =>
  broken({ strategies: [{ name: 'default', ...changes } as StrategyDefinition] });
const withDependency = (changes: object) => broken({ dependencies: [{ flag: 'parent', ...changes }] });

describe('a flag that cannot be read', () => {
  it.each([
    [broken({ enabled: 1 }), 'enabled must be true or false'],
    [broken({ strategies: null }), 'strategies must be an array'],
    [withStrategy({ name: {} }), 'name of a strategy must be text'],
    [withStrategy({ constraints: {} }), 'constraints must be an array'],
    [withStrategy({ segments: 1 }), 'segments must be an array'],
    [withStrategy({ variants: 1 }), 'variants of a strategy must be an array'],
    [withStrategy({ variants: [{ name: 'a', weight: 1, stickiness: {} }] }), 'stickiness must be text'],
    [broken({ variants: 1 }), 'variants must be an array'],
    [withVariant({ stickiness: {} }), 'stickiness must be text'],
    [withVariant({ name: {} }), 'name of a variant must be text'],
    [withVariant({ overrides: 1 }), 'overrides of a variant must be an array'],
    [withOverride({ contextName: {}, values: [] }), 'contextName of an override must be text'],
    [withOverride({ contextName: 'a', values: 1 }), 'values of an override must be an array'],
    [withOverride({ contextName: 'a', values: [{}] }), 'values of an override must be text'],
    [withVariant({ weight: -1 }), 'weight of a variant must be a whole number from 0 to 1000000'],
    [withVariant({ weight: 1_000_001 }), 'weight of a variant must be a whole number from 0 to 1000000'],
    [broken({ dependencies: 1 }), 'dependencies must be an array'],
    [withDependency({ flag: {} }), 'flag of a dependency must be text'],
    [withDependency({ variants: 1 }), 'variants of a dependency must be an array'],
  ])('is off, and reported with the reason: %j', (definition, reason) => {
    const message = `The flag checkout is off: ${reason}.`;
    expect(problemsOf([definition])).toEqual([{ code: 'broken_flag', flag: 'checkout', message }]);
  });

  it('is skipped if it has no name', () => {
    const message = 'A flag without a name is left out.';
    for (const name of [undefined, null, 7]) {
      expect(problemsOf([broken({ name })])).toEqual([{ code: 'broken_flag', message }]);
    }
  });
});

describe('weights of variants', () => {
  const heavy = (last: number) =>
    broken({
      variants: [...Array<number>(2_147).fill(1_000_000), last].map((weight, at) => ({ name: `v${at}`, weight })),
    });

  it('may add up to 31 bits, but not to more', () => {
    expect(problemsOf([heavy(483_647)])).toEqual([]);
    const message = 'The flag checkout is off: weights of variants add up to too much.';
    expect(problemsOf([heavy(483_648)])).toEqual([{ code: 'broken_flag', flag: 'checkout', message }]);
  });

  it('may each be a million', () => {
    expect(problemsOf([withVariant({ weight: 1_000_000 })])).toEqual([]);
  });
});

describe('a segment that cannot be read', () => {
  const of = (segment: object) => problemsOf([], { segments: [segment as SegmentDefinition] });

  it('never matches, and is reported with the reason', () => {
    const message = 'The segment 3 cannot be read and never holds: constraints of a segment must be an array.';
    expect(of({ id: 3, constraints: 7 })).toEqual([{ code: 'broken_segment', segment: 3, message }]);
  });

  it('is explained as found, without constraints', () => {
    const segments = [{ id: 3, constraints: 7 as never }];
    const snapshot = snapshotOf([flag({ strategies: [{ name: 'default', segments: [3] }] })], { segments });
    const [strategy] = snapshot.explain('checkout').strategies;
    expect(strategy?.segments).toEqual([{ id: 3, found: true, holds: false, constraints: [] }]);
  });

  it('is reported with the constraint if only that one cannot be read', () => {
    const message = 'The operator LIKE is unknown: a constraint with it never holds.';
    const constraints = [{ contextName: 'a', operator: 'LIKE' }];
    expect(of({ id: 3, constraints })).toEqual([{ code: 'unknown_operator', segment: 3, message }]);
  });

  it('is skipped if it has no id', () => {
    const message = 'A segment without a numeric id is left out.';
    for (const id of [undefined, '3'])
      expect(of({ id, constraints: [] })).toEqual([{ code: 'broken_segment', message }]);
  });

  it('is reported as missing if a flag names it and it does not exist', () => {
    const message = 'checkout uses a segment that does not exist: 9.';
    const expected = [{ code: 'missing_segment', flag: 'checkout', message }];
    expect(problemsOf([withStrategy({ segments: [9] })])).toEqual(expected);
  });
});

describe('an evaluation problem', () => {
  it('is reported once for a name without a flag, unless it is too long for a name', () => {
    const problems: EvaluationProblem[] = [];
    const snapshot = snapshotOf([flag()], { onProblem: (problem) => problems.push(problem) });
    expect(snapshot.isEnabled('chekout', {}, true)).toBe(true);
    expect(snapshot.getVariant('chekout').enabled).toBe(false);
    for (const name of ['x'.repeat(101), undefined, 7]) snapshot.isEnabled(name as string);
    const message = 'The flag chekout does not exist or is archived: the fallback is used.';
    expect(problems).toEqual([{ code: 'unknown_flag', flag: 'chekout', message }]);
  });

  it('is reported for an unknown strategy', () => {
    const message = 'checkout has an unknown strategy, which never holds: mystery.';
    const expected = [{ code: 'unknown_strategy', flag: 'checkout', message }];
    expect(problemsOf([withStrategy({ name: 'mystery' })])).toEqual(expected);
  });

  it('is reported once for a host strategy that throws any value', () => {
    const failing = (name: string) => ({
      name,
      isEnabled: () => {
        throw `no calendar ${Math.random()}`;
      },
    });
    const strategies = [{ name: 'weekend' }, { name: 'holiday' }];
    const problems = problemsOf([broken({ strategies })], { strategies: [failing('weekend'), failing('holiday')] });
    expect(problems).toEqual(
      strategies.map(({ name }) => ({
        code: 'strategy_failed',
        flag: 'checkout',
        message: expect.stringMatching(new RegExp(`^The strategy ${name} of checkout threw: no calendar 0\\..*\\.$`)),
      })),
    );
  });

  it('is reported for a throwing listener for impressions', () => {
    const onImpression = () => {
      throw new Error('full');
    };
    const expected = [{ code: 'impression_failed', flag: 'checkout', message: 'onImpression threw: full.' }];
    expect(problemsOf([flag({ impressionData: true })], { onImpression })).toEqual(expected);
  });

  it('is reported for a context that only the variants read', () => {
    const problems: EvaluationProblem[] = [];
    const variants = [{ name: 'blue', weight: 1 }];
    const snapshot = snapshotOf([flag({ variants })], { onProblem: (problem) => problems.push(problem) });
    const context = {
      get userId(): string {
        throw new Error('gone');
      },
    };
    const answer = snapshot.getVariant('checkout', context);
    expect(answer).toEqual({ name: 'disabled', enabled: false, flagEnabled: true });
    expect(problems).toMatchObject([{ code: 'evaluation_failed', flag: 'checkout' }]);
    const unreadable = snapshotOf([flag({ strategies: [{ name: 'userWithId', parameters: { userIds: 'ada' } }] })]);
    expect(unreadable.explain('checkout', context)).toMatchObject({ enabled: false, reason: 'unreadable_context' });
  });

  it('is reported for a context whose fields throw', () => {
    const problems: EvaluationProblem[] = [];
    const strategies = [{ name: 'userWithId', parameters: { userIds: 'ada' } }];
    const snapshot = snapshotOf([flag({ strategies })], { onProblem: (problem) => problems.push(problem) });
    const context = {
      get userId(): string {
        throw new Error('gone');
      },
    };
    snapshot.isEnabled('checkout', context);
    const message = 'Reading the context threw an error, so checkout is off: gone.';
    expect(problems).toEqual([{ code: 'evaluation_failed', flag: 'checkout', message }]);
  });
});

describe('problems', () => {
  it('are reported once each, until ten thousand others were reported', () => {
    const told: string[] = [];
    const reporter = new ProblemReporter(({ message }) => told.push(message));
    const report = (message: string) => reporter.report({ code: 'broken_flag', flag: 'a', message });
    for (let at = 0; at < 10_000; at++) report(`${at}`);
    report('0');
    expect(told).toHaveLength(10_000);
    report('one more');
    report('0');
    report('0');
    expect(told.slice(10_000)).toEqual(['one more', '0']);
  });

  it('are reported for each of several flags and segments', () => {
    const told: EvaluationProblem[] = [];
    const reporter = new ProblemReporter((problem) => told.push(problem));
    const message = 'the same';
    const problems: EvaluationProblem[] = [
      { code: 'broken_flag', flag: 'a', message },
      { code: 'broken_flag', flag: 'b', message },
      { code: 'missing_segment', flag: 'a', message },
      { code: 'broken_segment', segment: 1, message },
      { code: 'broken_segment', segment: 2, message },
    ];
    for (const problem of [...problems, ...problems]) reporter.report(problem);
    expect(told).toEqual(problems);
  });

  it('include the message of any thrown value', () => {
    expect(reasonOf(new Error('gone'))).toBe('gone');
    expect(reasonOf('gone')).toBe('gone');
    expect(reasonOf(undefined)).toBe('undefined');
    expect(reasonOf(Object.create(null))).toBe('the thrown value cannot be converted to text');
  });
});
