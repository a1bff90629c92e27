import { findMissingTarget, parsePointer, topMember } from '../../src/base/json-patch.js';

/** The document of RFC 6901, section 5. */
const DOCUMENT = {
  foo: ['bar', 'baz'],
  '': 0,
  'a/b': 1,
  'c%d': 2,
  'e^f': 3,
  'g|h': 4,
  'i\\j': 5,
  'k"l': 6,
  ' ': 7,
  'm~n': 8,
};

describe('parsePointer', () => {
  it.each([
    ['', []],
    ['/', ['']],
    ['/foo/0', ['foo', '0']],
    ['/a~1b', ['a/b']],
    ['/m~0n', ['m~n']],
    ['/~01', ['~1']],
    ['/~10', ['/0']],
    ['/c%d', ['c%d']],
    ['/ ', [' ']],
    ['//', ['', '']],
  ])('reads %j as %j', (pointer, tokens) => {
    expect(parsePointer(pointer)).toEqual(tokens);
  });
});

describe('an array of more than ten items', () => {
  const items = Array.from({ length: 11 }, (_, index) => index);

  it('has places with indexes of two digits', () => {
    expect(findMissingTarget(items, '/10', 'existing')).toBeUndefined();
    expect(findMissingTarget(items, '/11', 'existing')).toBeDefined();
    expect(findMissingTarget(items, '/11', 'insertable')).toBeUndefined();
    expect(findMissingTarget(items, '/12', 'insertable')).toBeDefined();
  });
});

describe('topMember', () => {
  it('is the first token, unescaped, and empty for the whole document', () => {
    expect(topMember('/a~1b/c')).toBe('a/b');
    expect(topMember('/description')).toBe('description');
    expect(topMember('')).toBe('');
  });
});

describe('findMissingTarget', () => {
  it.each(['', '/foo', '/foo/0', '/', '/a~1b', '/c%d', '/e^f', '/g|h', '/i\\j', '/k"l', '/ ', '/m~0n'])(
    'finds all that RFC 6901 points to: %j',
    (pointer) => {
      expect(findMissingTarget(DOCUMENT, pointer, 'existing')).toBeUndefined();
    },
  );

  it.each(['/foo/2', '/foo/-', '/foo/00', '/foo/length', '/bar', '/foo/0/0', '/toString', '/__proto__', '/a/b'])(
    'misses %s',
    (pointer) => {
      expect(findMissingTarget(DOCUMENT, pointer, 'existing')).toMatch(/^leads nowhere/);
    },
  );

  it.each(['/foo/0', '/foo/2', '/foo/-', '/new', '/toString'])('finds a place to insert at %s', (pointer) => {
    expect(findMissingTarget(DOCUMENT, pointer, 'insertable')).toBeUndefined();
  });

  it.each(['/foo/3', '/foo/02', '/foo/-1', '/foo/x', '/new/x', '/toString/x', '/foo/-/x', '/ /x'])(
    'finds no place to insert at %s',
    (pointer) => {
      expect(findMissingTarget(DOCUMENT, pointer, 'insertable')).toMatch(/^leads nowhere/);
    },
  );
});
