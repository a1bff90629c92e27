import { audienceOf, describeAudience, describeState } from '../../src/admin.js';

const PERCENT = { name: 'flexibleRollout', parameters: { rollout: '20', stickiness: 'default', groupId: 'a' } };
const FULL = { name: 'flexibleRollout', parameters: { rollout: 100 } };
const USERS = { name: 'userWithId', parameters: { userIds: '1, 2,3,' } };
const IN_DE = { constraints: [{ contextName: 'country', operator: 'IN', values: ['DE'] }] };
const segmentName = (id: number) => (id === 7 ? 'EU customers' : undefined);

describe('the audience of strategies', () => {
  it.each([
    ['100 %', [{ name: 'default' }]],
    ['100 %', [FULL]],
    ['100 %', [{ ...FULL, parameters: { rollout: '100', stickiness: 'random' } }]],
    ['100 %', [USERS, FULL, { ...PERCENT, ...IN_DE }]],
    ['100 % with companyId', [{ ...FULL, parameters: { rollout: 100, stickiness: 'companyId' } }]],
    ['100 % with userId', [{ name: 'gradualRolloutUserId', parameters: { percentage: '100' } }]],
    ['100 %', [{ name: 'gradualRolloutRandom', parameters: { percentage: '100' } }]],
    ['20 %', [PERCENT]],
    ['20 %', [PERCENT, PERCENT]],
    ['20 %', [PERCENT, { ...FULL, disabled: true }, { name: 'userWithId', parameters: { userIds: '' } }]],
    ['20 % + 3 users', [PERCENT, USERS]],
    ['1 address', [{ name: 'remoteAddress', parameters: { IPs: '10.0.0.0/8' } }]],
    ['2 addresses', [{ name: 'remoteAddress', parameters: { IPs: '10.0.0.1,10.0.0.2' } }]],
    ['20 % of EU customers', [{ ...PERCENT, segments: [7] }]],
    ['EU customers', [{ name: 'default', segments: [7] }]],
    ['20 % of segment 8', [{ ...PERCENT, segments: [8] }]],
    ['targeted', [{ ...FULL, ...IN_DE }]],
    ['targeted', [{ ...USERS, ...IN_DE }]],
    ['targeted', [{ ...FULL, segments: [7, 8] }]],
    ['targeted', [{ ...FULL, segments: [7], ...IN_DE }]],
    ['targeted', [{ name: 'ourOwnStrategy', parameters: { rollout: '100' } }]],
    ['20 % targeted', [{ ...PERCENT, ...IN_DE }]],
    ['targeted', [PERCENT, USERS, { ...FULL, segments: [7] }]],
    ['0 %', [{ ...FULL, disabled: true }]],
    ['0 %', [{ ...PERCENT, parameters: { rollout: 'many' } }]],
    ['0 %', [{ ...FULL, parameters: { rollout: 100, stickiness: {} } }]],
    ['0 %', [{ name: 'constructor', parameters: null, disabled: true }]],
    ['', []],
  ])('is "%s" of %j', (words, strategies) => {
    expect(describeAudience(audienceOf(strategies), segmentName)).toBe(words);
  });
});

it('says that a flag is off, and that a parent is the cause', () => {
  const audience = audienceOf([PERCENT]);
  expect(describeState({ enabled: false, audience }, segmentName)).toBe('off');
  expect(describeState({ enabled: true, offBecauseOf: 'payments', audience }, segmentName)).toBe(
    'off because of payments',
  );
  expect(describeState({ enabled: true, offBecauseOf: null, audience }, segmentName)).toBe('20 %');
});
