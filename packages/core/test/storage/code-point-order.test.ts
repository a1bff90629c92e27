import fc from 'fast-check';
import { compareCodePoints } from '../../src/base/collections.js';

const wellFormedText = fc.string({ unit: 'binary' });

describe('compareCodePoints', () => {
  it('puts characters beyond U+FFFF after all others', () => {
    expect(['\u{1f600}', '\uffff', '\ufffd', '\ue000', 'a', ''].sort(compareCodePoints)).toEqual([
      '',
      'a',
      '\ue000',
      '\ufffd',
      '\uffff',
      '\u{1f600}',
    ]);
  });

  it('orders as the bytes of UTF-8 do', () => {
    fc.assert(
      fc.property(wellFormedText, wellFormedText, (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });
});
