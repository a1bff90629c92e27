import { validate } from './default-validators.js';
import { faultsOf, pathsOf } from './facts.js';

describe('a strategy', () => {
  it.each([
    { name: 'default' },
    { name: 'one of the client’s own' },
    { name: 'n'.repeat(100), parameters: null },
    { name: 'default', parameters: { text: '', number: 1.5, boolean: false, nothing: null } },
    { name: 'default', title: '', disabled: true, sortOrder: -1, segments: [1], constraints: [] },
    { name: 'default', unheardOf: { anything: [] } },
    { name: 'default', parameters: { rollout: 'half' } },
    { name: 'default', parameters: JSON.parse('{"__proto__":"a","constructor":1}') },
  ])('can be %j', (input) => {
    expect(faultsOf(validate.strategy, input)).toEqual([]);
  });

  it.each<[unknown, string]>([
    [{}, '/name'],
    [{ name: '' }, '/name'],
    [{ name: 'n'.repeat(101) }, '/name'],
    [{ name: 7 }, '/name'],
    [{ name: 'default', parameters: [] }, '/parameters'],
    [{ name: 'default', parameters: { a: [] } }, '/parameters/a'],
    [{ name: 'default', parameters: { 'a/b': {} } }, '/parameters/a~1b'],
    [{ name: 'default', parameters: JSON.parse('{"__proto__":{}}') }, '/parameters/__proto__'],
    [{ name: 'default', constraints: {} }, '/constraints'],
    [{ name: 'default', disabled: 1 }, '/disabled'],
    [{ name: 'default', sortOrder: 0.5 }, '/sortOrder'],
    [{ name: 'default', segments: ['1'] }, '/segments/0'],
    [{ name: 'default', title: null }, '/title'],
    [{ name: 'default', variants: [{ name: 'a' }, 7] }, '/variants/1'],
  ])('cannot be %j', (input, path) => {
    expect(pathsOf(validate.strategy, input)).toContain(path);
  });

  it.each([0, 100, 33.3, '0', '100', '33.3'])('of flexibleRollout may have the rollout %j', (rollout) => {
    expect(faultsOf(validate.strategy, { name: 'flexibleRollout', parameters: { rollout } })).toEqual([]);
  });

  it.each([-1, 100.1, '-1', '101', 'half', '', '50%', true, null])(
    'of flexibleRollout may not have the rollout %j',
    (rollout) => {
      expect(pathsOf(validate.strategy, { name: 'flexibleRollout', parameters: { rollout } })).toEqual([
        '/parameters/rollout',
      ]);
    },
  );

  it('of flexibleRollout may have no rollout, and no parameters', () => {
    for (const parameters of [{}, null, Object.create({ rollout: 'inherited' })]) {
      expect(faultsOf(validate.strategy, { name: 'flexibleRollout', parameters })).toEqual([]);
    }
  });

  it('has variants whose payloads are what they claim', () => {
    const variant = { name: 'a', weightType: 'fix', weight: 1000, stickiness: 'default' };
    const payload = { type: 'json', value: '{' };
    expect(pathsOf(validate.strategy, { name: 'default', variants: [variant, { ...variant, payload }] })).toEqual([
      '/variants/1/payload/value',
    ]);
    expect(pathsOf(validate.strategy, { name: 'default', variants: [{ ...variant, overrides: [] }] })).toEqual([
      '/variants/0/overrides',
    ]);
  });
});
