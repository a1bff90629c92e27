import { validate } from './default-validators.js';
import { faultsOf, pathsOf } from './facts.js';

const FIX = { name: 'fix', weightType: 'fix', weight: 999 };

describe('a list of variants', () => {
  it.each([
    [[]],
    [[{ name: 'a' }]],
    [[FIX, { name: 'a' }]],
    [[{ name: 'a', weightType: 'fix', weight: 0 }, { name: 'b' }]],
    [[{ name: '__proto__' }, { name: 'constructor' }]],
    [[{ name: 'a', stickiness: 'userId', overrides: [{ contextName: 'userId', values: [] }] }]],
  ])('can be %j', (input) => {
    expect(faultsOf(validate.variants, input)).toEqual([]);
  });

  it('has a variable variant unless it is empty', () => {
    expect(faultsOf(validate.variants, [FIX])).toEqual([
      { message: 'must have at least one variant of weightType variable', path: '' },
    ]);
  });

  it('has fixed weights that leave something', () => {
    const fixed = (weight: number, name: string) => ({ name, weightType: 'fix', weight });
    expect(faultsOf(validate.variants, [fixed(500, 'a'), fixed(499, 'b'), { name: 'c' }])).toEqual([]);
    expect(faultsOf(validate.variants, [fixed(500, 'a'), fixed(500, 'b'), { name: 'c', weight: 1 }])).toEqual([
      { message: 'must have fixed weights that add up to less than 1000, not to 1000', path: '' },
    ]);
  });

  it('reports every broken rule once', () => {
    expect(faultsOf(validate.variants, [FIX, FIX, { name: 'bare', weightType: 'fix' }])).toEqual([
      { message: 'is required for a variant of weightType fix', path: '/2/weight' },
      { message: 'must be unique among the variants', path: '/1/name' },
      { message: 'must have at least one variant of weightType variable', path: '' },
      { message: 'must have fixed weights that add up to less than 1000, not to 1998', path: '' },
    ]);
  });

  it.each<[unknown, string]>([
    [{ name: 'a', extra: 1 }, '/0/extra'],
    [{ name: 'a', payload: { type: 'string', value: '', extra: 1 } }, '/0/payload/extra'],
    [{ name: 'a', payload: { type: 'string' } }, '/0/payload/value'],
    [{ name: 'a', payload: { type: 'xml', value: '' } }, '/0/payload/type'],
    [{ name: 'a', payload: null }, '/0/payload'],
    [{ name: 'a', overrides: [{ contextName: 'u', values: [], extra: 1 }] }, '/0/overrides/0/extra'],
    [{ name: 'a', overrides: [{ contextName: 'u', values: [7] }] }, '/0/overrides/0/values/0'],
    [{ name: 'a', weight: 1001 }, '/0/weight'],
    [{ name: 'a', weight: 0.5 }, '/0/weight'],
    [{ name: 'a', weight: '5' }, '/0/weight'],
    [{ name: 'a', weightType: 'other' }, '/0/weightType'],
    [{ name: 'a b' }, '/0/name'],
    [{ name: 'a', stickiness: '' }, '/0/stickiness'],
    [{}, '/0/name'],
    [null, '/0'],
  ])('cannot hold %j', (variant, path) => {
    expect(pathsOf(validate.variants, [variant, { name: 'other' }])).toEqual([path]);
  });

  it.each<[string, string]>([
    ['string', ''],
    ['csv', 'a,b\n"'],
    ['json', '{"a":[1,null]}'],
    ['json', '"text"'],
    ['number', '-1.5e3'],
  ])('can carry the %s %j', (type, value) => {
    expect(faultsOf(validate.variants, [{ name: 'a', payload: { type, value } }])).toEqual([]);
  });

  it.each<[string, string]>([
    ['json', ''],
    ['json', '{'],
    ['json', '{a:1}'],
    ['json', 'undefined'],
    ['number', ''],
    ['number', '1,5'],
    ['number', 'NaN'],
    ['number', '1e999'],
  ])('cannot carry the %s %j', (type, value) => {
    expect(pathsOf(validate.variants, [{ name: 'a', payload: { type, value } }])).toEqual(['/0/payload/value']);
  });
});
