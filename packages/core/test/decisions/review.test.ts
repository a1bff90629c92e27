import { defaultEnvironment, describeEffects, effectsToReview, hiddenToReview, isReviewed } from '../../src/admin.js';
import type { Effect, FlagVisibility } from '../../src/index.js';

const effect = (environment: string, before: FlagVisibility, after: FlagVisibility, flag = 'a'): Effect => {
  return { project: 'default', flag, environment, before, after };
};

describe('the environments of a host', () => {
  it.each([
    [['development', 'production'], 'production', ['production']],
    [['production', 'staging'], 'production', ['production']],
    [['test', 'live'], 'test', ['live']],
    [['live'], 'live', ['live']],
    [[], 'production', ['production']],
  ])('%j: commands act on %s, and changes of %j are reviewed', (environments, acted, reviewed) => {
    expect(defaultEnvironment(environments)).toBe(acted);
    const all = [...new Set([...environments, ...reviewed])];
    expect(all.filter((one) => isReviewed(one, { environments, reviewIn: undefined }))).toEqual(reviewed);
  });

  it('are reviewed as the option says, whatever their names are', () => {
    const scope = { environments: ['test', 'production'], reviewIn: ['test'] };
    expect(['test', 'production', 'live'].filter((one) => isReviewed(one, scope))).toEqual(['test']);
    expect(isReviewed('production', { ...scope, reviewIn: [] })).toBe(false);
  });

  it('do not hide those that only stored flags have', () => {
    expect(isReviewed('live', { environments: ['development', 'production'], reviewIn: undefined })).toBe(true);
  });
});

it('reviews every effect but a new flag that is off', () => {
  const scope = { environments: ['development', 'production'], reviewIn: undefined };
  const off = effect('production', 'on', 'off');
  const gone = effect('production', 'off', 'absent');
  const all = [off, gone, effect('production', 'absent', 'off'), effect('development', 'off', 'on')];
  expect(effectsToReview(all, scope)).toEqual([off, gone]);
});

it('counts hidden effects wherever anything is reviewed', () => {
  const environments = ['development', 'production'];
  expect(hiddenToReview(3, { environments, reviewIn: undefined })).toBe(3);
  expect(hiddenToReview(3, { environments, reviewIn: ['test'] })).toBe(3);
  expect(hiddenToReview(3, { environments, reviewIn: [] })).toBe(0);
});

it('says effects by environment, with counts and names', () => {
  const many = Array.from({ length: 1_012 }, (_, n) => effect('live', 'on', 'on', `f${n}`));
  const others = [effect('live', 'off', 'on'), effect('test', 'absent', 'off'), effect('test', 'off', 'off')];
  expect(describeEffects([...many, ...others])).toEqual([
    'live: 1,012 flags are on, and change: f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 and 1,002 more',
    'live: 1 flag goes on: a',
    'test: 1 flag is off, and its payloads appear or go: a',
  ]);
});
