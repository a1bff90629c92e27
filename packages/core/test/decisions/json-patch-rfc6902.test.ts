import type { JsonPatch } from '../../src/base/common.types.js';
import { applyPatch } from '../../src/base/json-patch.js';
import { refusalOf } from './refusal.js';

/** Appendix A of RFC 6902: section, what it shows, document, patch, and the document after it. */
const EXAMPLES: readonly (readonly [string, string, unknown, JsonPatch, unknown])[] = [
  [
    'A.1',
    'adding an object member',
    { foo: 'bar' },
    [{ op: 'add', path: '/baz', value: 'qux' }],
    { baz: 'qux', foo: 'bar' },
  ],
  [
    'A.2',
    'adding an array element',
    { foo: ['bar', 'baz'] },
    [{ op: 'add', path: '/foo/1', value: 'qux' }],
    { foo: ['bar', 'qux', 'baz'] },
  ],
  ['A.3', 'removing an object member', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
  [
    'A.4',
    'removing an array element',
    { foo: ['bar', 'qux', 'baz'] },
    [{ op: 'remove', path: '/foo/1' }],
    { foo: ['bar', 'baz'] },
  ],
  [
    'A.5',
    'replacing a value',
    { baz: 'qux', foo: 'bar' },
    [{ op: 'replace', path: '/baz', value: 'boo' }],
    { baz: 'boo', foo: 'bar' },
  ],
  [
    'A.6',
    'moving a value',
    { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
    [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
    { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
  ],
  [
    'A.7',
    'moving an array element',
    { foo: ['all', 'grass', 'cows', 'eat'] },
    [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
    { foo: ['all', 'cows', 'eat', 'grass'] },
  ],
  [
    'A.8',
    'testing a value: success',
    { baz: 'qux', foo: ['a', 2, 'c'] },
    [
      { op: 'test', path: '/baz', value: 'qux' },
      { op: 'test', path: '/foo/1', value: 2 },
    ],
    { baz: 'qux', foo: ['a', 2, 'c'] },
  ],
  [
    'A.10',
    'adding a nested member object',
    { foo: 'bar' },
    [{ op: 'add', path: '/child', value: { grandchild: {} } }],
    { foo: 'bar', child: { grandchild: {} } },
  ],
  [
    'A.11',
    'ignoring unrecognized elements',
    { foo: 'bar' },
    [{ op: 'add', path: '/baz', value: 'qux', xyz: 123 } as JsonPatch[number]],
    { foo: 'bar', baz: 'qux' },
  ],
  ['A.14', '~ escape ordering', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: 10 }], { '/': 9, '~1': 10 }],
  [
    'A.16',
    'adding an array value',
    { foo: ['bar'] },
    [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }],
    { foo: ['bar', ['abc', 'def']] },
  ],
];

describe('RFC 6902, appendix A', () => {
  it.each(EXAMPLES)('%s: %s', (_section, _title, document, patch, expected) => {
    expect(applyPatch(document, patch, {})).toEqual(expected);
  });

  it('A.9: testing a value: error', () => {
    const patch: JsonPatch = [{ op: 'test', path: '/baz', value: 'bar' }];
    expect(refusalOf(() => applyPatch({ baz: 'qux' }, patch, {})).code).toBe('patch_test_failed');
  });

  it('A.12: adding to a nonexistent target', () => {
    const patch: JsonPatch = [{ op: 'add', path: '/baz/bat', value: 'qux' }];
    expect(refusalOf(() => applyPatch({ foo: 'bar' }, patch, {})).code).toBe('invalid_patch');
  });

  it('A.15: comparing strings and numbers', () => {
    const patch: JsonPatch = [{ op: 'test', path: '/~01', value: '10' }];
    expect(refusalOf(() => applyPatch({ '/': 9, '~1': 10 }, patch, {})).code).toBe('patch_test_failed');
  });
});
