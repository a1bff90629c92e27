import { fromStoredText, toStoredText } from '../src/tables.js';

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

describe('stored text', () => {
  it('comes back as it was', () => {
    expect(TEXTS.map((text) => fromStoredText(toStoredText(text)))).toEqual(TEXTS);
  });

  it('is well-formed and without U+0000, so that PostgreSQL takes it', () => {
    for (const text of TEXTS) {
      const stored = toStoredText(text);
      expect(Buffer.from(stored).toString()).toBe(stored);
      expect(stored).not.toContain('\u0000');
    }
  });

  it('sorts by bytes as the texts do by code points', () => {
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
