import type { EvaluationContext, EvaluationProblem } from '../../src/evaluation/evaluated.types.js';
import { flag, rollout, snapshotOf, weighted } from './one-flag.js';

const LONGEST = 'a'.repeat(4096);
const TOO_LONG = `${LONGEST}a`;

function onFor(contextName: string) {
  const problems: EvaluationProblem[] = [];
  const constraints = [{ contextName, operator: 'STR_STARTS_WITH', values: ['a'] }];
  const flags = [flag({ strategies: [{ name: 'default', constraints }] })];
  const snapshot = snapshotOf(flags, { onProblem: (problem) => problems.push(problem) });
  return { snapshot, problems };
}

describe('a context value of more than 4,096 characters', () => {
  it.each<[string, (value: string) => EvaluationContext]>([
    ['userId', (userId) => ({ userId })],
    ['sessionId', (sessionId) => ({ sessionId })],
    ['remoteAddress', (remoteAddress) => ({ remoteAddress })],
    ['environment', (environment) => ({ environment, properties: {} })],
    ['appName', (appName) => ({ appName })],
    ['currentTime', (currentTime) => ({ currentTime })],
    ['plan', (plan) => ({ properties: { plan } })],
    ['list', (text) => ({ properties: { list: [text] } })],
    ['userId', (userId) => ({ properties: { userId } })],
  ])('counts as absent, and is reported once: %s', (field, contextOf) => {
    const { snapshot, problems } = onFor(field);
    expect(snapshot.isEnabled('checkout', contextOf(LONGEST))).toBe(true);
    expect(problems).toEqual([]);
    for (let calls = 0; calls < 3; calls++) {
      const context = contextOf(TOO_LONG);
      expect(snapshot.isEnabled('checkout', context)).toBe(false);
      expect(snapshot.getVariant('checkout', context).feature_enabled).toBe(false);
      expect(snapshot.evaluate('checkout', context)?.enabled).toBe(false);
      expect(snapshot.explain('checkout', context).strategies[0]?.constraints[0]).not.toHaveProperty('value');
    }
    const message = `The context field ${field} has more than 4096 characters and counts as absent.`;
    expect(problems).toEqual([{ code: 'context_value_too_long', message }]);
  });

  it('does not identify a user for rollouts and variants', () => {
    const sticky = flag({ strategies: [rollout(100, { stickiness: 'userId' })] });
    expect(snapshotOf([sticky]).isEnabled('checkout', { userId: TOO_LONG })).toBe(false);
    const drawn = flag({ strategies: [{ name: 'default' }], variants: weighted(1, 1) });
    const explained = snapshotOf([drawn]).explain('checkout', { userId: TOO_LONG, sessionId: 'ada' });
    expect(explained.variantChoice).toMatchObject({ id: 'ada', random: false });
  });

  it('is not used as the current time', () => {
    const constraints = [{ contextName: 'currentTime', operator: 'DATE_AFTER', value: '2026-01-01T00:00:00Z' }];
    const flags = [flag({ strategies: [{ name: 'default', constraints }] })];
    const snapshot = snapshotOf(flags, { now: () => Date.parse('2026-06-01T00:00:00Z') });
    expect(snapshot.isEnabled('checkout', { currentTime: TOO_LONG })).toBe(true);
    expect(snapshot.isEnabled('checkout', { currentTime: 'a'.repeat(1000) })).toBe(false);
  });

  it.each([
    ['NUM_GT', '0', '1'.repeat(300)],
    ['SEMVER_GT', '0.0.1', `1.0.0-${'1'.repeat(300)}`],
  ])('is no operand long before: %s', (operator, value, text) => {
    const constraints = [{ contextName: 'userId', operator, value }];
    const snapshot = snapshotOf([flag({ strategies: [{ name: 'default', constraints }] })]);
    expect(snapshot.isEnabled('checkout', { userId: text })).toBe(false);
    expect(snapshot.isEnabled('checkout', { userId: text.slice(0, 200) })).toBe(true);
  });

  it('is never converted from an array with more items', () => {
    let conversions = 0;
    const item = { toString: () => `${conversions++}` };
    const { snapshot } = onFor('list');
    expect(snapshot.isEnabled('checkout', { properties: { list: new Array(5000).fill(item) } })).toBe(false);
    expect(conversions).toBe(0);
  });
});
