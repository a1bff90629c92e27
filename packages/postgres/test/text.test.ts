import { toDataVersion } from '../src/data-version.js';
import { fromStoredText, toStoredText } from '../src/tables.js';

describe('stored text', () => {
  const CHARACTERS = [
    '\u0000',
    '\u0001',
    '\u0002',
    'a',
    '\ud7fe',
    '\ud7ff',
    '\ud800',
    '\udbff',
    '\udc00',
    '\udfff',
    '\ue000',
    '😀',
  ];
  const TEXTS = ['', ...CHARACTERS, ...CHARACTERS.flatMap((one) => CHARACTERS.map((other) => `${one}x${other}`))];

  it('is read unchanged', () => {
    expect(TEXTS.map((text) => fromStoredText(toStoredText(text)))).toEqual(TEXTS);
  });

  it('is well-formed and without U+0000, so that PostgreSQL accepts it', () => {
    for (const text of TEXTS) {
      const stored = toStoredText(text);
      expect(Buffer.from(stored).toString()).toBe(stored);
      expect(stored).not.toContain('\u0000');
    }
  });

  it('sorts by bytes like the original by code points', () => {
    const points = (text: string) => Array.from(text, (character) => character.codePointAt(0) ?? 0);
    const byCodePoints = (one: string, other: string) => {
      const [left, right] = [points(one), points(other)];
      const at = left.findIndex((point, index) => point !== right[index]);
      return at === -1 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1);
    };
    const byBytes = (one: string, other: string) =>
      Buffer.compare(Buffer.from(toStoredText(one)), Buffer.from(toStoredText(other)));
    expect(TEXTS.toSorted(byBytes)).toEqual(TEXTS.toSorted(byCodePoints));
  });
});

describe('the text of the data version', () => {
  const row = { numbers: '7', server: 'here', feed_offset: '0', newest: '10', snapshot: '5:12:5,8,11', standby: 'f' };

  it('contains the newest position, and the transactions that run below it', () => {
    expect(toDataVersion(row)).toBe('here/7/10/5,8');
  });

  it('does not change while foreign transactions start and end above the newest position', () => {
    expect(toDataVersion({ ...row, snapshot: '5:20:5,8,13,19' })).toBe(toDataVersion(row));
  });

  it('changes when a transaction below has ended', () => {
    expect(toDataVersion({ ...row, snapshot: '8:12:8,11' })).not.toBe(toDataVersion(row));
  });

  it('subtracts the offset from positions', () => {
    expect(toDataVersion({ ...row, feed_offset: '100', newest: '110' })).toBe('here/7/110/5,8');
  });

  it('contains no transaction if none runs', () => {
    expect(toDataVersion({ ...row, snapshot: '12:12:' })).toBe('here/7/10/');
  });

  it.each([
    ['no event exists', { ...row, newest: null }],
    ['the newest position is above the snapshot', { ...row, newest: '12' }],
    ['the offset is missing', { ...row, feed_offset: null }],
  ])('contains the whole snapshot where %s', (_name, found) => {
    expect(toDataVersion(found)).toContain('5:12:5,8,11');
  });

  it('changes with each call on a standby', () => {
    const standby = { ...row, standby: 't' };
    expect(toDataVersion(standby)).not.toBe(toDataVersion(standby));
  });
});
