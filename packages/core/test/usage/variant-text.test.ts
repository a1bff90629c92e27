import { parseVariantText, toVariantText } from '../../src/storage/sqlite/timed-usage.js';

const VARIANTS = [
  { variant: 'blue', count: 3 },
  { variant: '7', count: 1 },
];

describe('the stored counts of variants', () => {
  it('come back as they were written', () => {
    expect(parseVariantText(toVariantText(VARIANTS))).toEqual(VARIANTS);
    expect(parseVariantText(toVariantText([]))).toEqual([]);
  });

  it('come back from the pairs of earlier builds', () => {
    expect(parseVariantText('[["blue",3],["7",1]]')).toEqual(VARIANTS);
  });
});
