import { applyPatch, parsePointer, topMember } from '../../src/base/json-patch.js';
import { refusalOf } from './refusal.js';

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

const read = (document: unknown, from: string) => () => applyPatch(document, [{ op: 'copy', from, path: '' }], {});
const insert = (document: unknown, path: string) => () => applyPatch(document, [{ op: 'add', path, value: 1 }], {});

describe('an array of more than ten items', () => {
  const items = Array.from({ length: 11 }, (_, index) => index);

  it('has places with indexes of two digits', () => {
    expect(read(items, '/10')()).toBe(10);
    expect(refusalOf(read(items, '/11')).code).toBe('invalid_patch');
    expect(insert(items, '/11')()).toEqual([...items, 1]);
    expect(refusalOf(insert(items, '/12')).code).toBe('invalid_patch');
  });
});

describe('topMember', () => {
  it('is the first token, unescaped, and empty for the whole document', () => {
    expect(topMember('/a~1b/c')).toBe('a/b');
    expect(topMember('/description')).toBe('description');
    expect(topMember('')).toBe('');
  });
});

describe('a pointer of a patch', () => {
  it.each([
    ['', DOCUMENT],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ])('reads %j as RFC 6901 says', (pointer, value) => {
    expect(read(DOCUMENT, pointer)()).toEqual(value);
  });

  it.each([
    '/foo/2',
    '/foo/-',
    '/foo/00',
    '/foo/',
    '/foo/4294967296',
    '/foo/length',
    '/bar',
    '/foo/0/0',
    '/toString',
    '/__proto__',
    '/a/b',
  ])('cannot read %s', (pointer) => {
    expect(refusalOf(read(DOCUMENT, pointer)).message).toContain(`leads nowhere: there is no place ${pointer}.`);
  });

  it.each(['/foo/0', '/foo/2', '/foo/-', '/new', '/toString'])('can insert at %s', (pointer) => {
    expect(insert(DOCUMENT, pointer)).not.toThrow();
  });

  it.each([
    '/foo/3',
    '/foo/02',
    '/foo/',
    '/foo/4294967296',
    '/foo/-1',
    '/foo/x',
    '/new/x',
    '/toString/x',
    '/foo/-/x',
    '/ /x',
  ])('cannot insert at %s', (pointer) => {
    expect(refusalOf(insert(DOCUMENT, pointer)).message).toContain('leads nowhere');
  });
});
