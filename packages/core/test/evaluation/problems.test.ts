import type { FlagDefinition } from '../../src/evaluation/definitions.types.js';
import type { EvaluationProblem } from '../../src/evaluation/evaluated.types.js';
import type { SnapshotOptions } from '../../src/evaluation/snapshot.types.js';
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
  ])('is reported once with its flag: %s', (code, broken) => {
    const { problems, snapshot } = watched([broken]);
    const again = snapshot.with({ flags: [broken] });
    again.isEnabled('checkout');
    expect(problems).toEqual([{ code, flag: 'checkout', message: expect.any(String) }]);
  });

  it.each([
    [constrained({ operator: 'LIKE' }), 'The operator LIKE is not known: a constraint with it never holds.'],
    [constrained({ operator: 'NUM_GT', value: 'x' }), 'NUM_GT on plan has an operand that it cannot use.'],
    [constrained({ operator: 'REGEX', value: 7 }), 'REGEX on plan has an operand that it cannot use.'],
    [constrained({ operator: 'REGEX', value: ['a'] }), 'REGEX on plan has an operand that it cannot use.'],
    [constrained({ operator: 'SEMVER_EQ', value: '1.2' }), 'SEMVER_EQ on plan has an operand that it cannot use.'],
    [constrained({ operator: 'SEMVER_EQ', value: ['1.2.0'] }), 'SEMVER_EQ on plan has an operand that it cannot use.'],
    [constrained({ values: 7 }), 'values of a constraint must be an array'],
    [constrained({ values: [{}] }), 'values of a constraint must be text'],
    [constrained({ contextName: {} }), 'contextName of a constraint must be text'],
    [parametrized('userWithId', { userIds: [] }), 'userIds must be text'],
    [parametrized('remoteAddress', { IPs: [] }), 'IPs must be text'],
    [parametrized('applicationHostname', { hostNames: [] }), 'hostNames must be text'],
    [parametrized('flexibleRollout', { rollout: 50, stickiness: [] }), 'stickiness must be text'],
    [parametrized('flexibleRollout', { rollout: 50, groupId: [] }), 'groupId must be text'],
  ])('says what is wrong: %j', (broken, message) => {
    const { problems } = watched([broken]);
    expect(problems).toEqual([
      { code: expect.any(String), flag: 'checkout', message: expect.stringContaining(message) },
    ]);
  });

  it('of a segment is reported with its id, and the segment never holds', () => {
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

  it('takes the place of a built-in one', () => {
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

  it('does not hold for an answer other than true: a promise cannot be waited for', () => {
    const waiting = { name: 'weekend', isEnabled: (async () => true) as never };
    const { snapshot } = watched([flag({ strategies })], { strategies: [waiting] });
    expect(snapshot.isEnabled('checkout')).toBe(false);
  });
});
