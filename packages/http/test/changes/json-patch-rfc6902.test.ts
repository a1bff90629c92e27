import { isFlagsError } from '@flags/core';
import fc from 'fast-check';
import { refusalOf } from '../../../core/test/decision.js';
import { applyPatch, type JsonPatch } from '../../src/changes/json-patch.js';

describe('RFC 6902, appendix A', () => {
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
    [
      'A.14',
      '~ escape ordering',
      { '/': 9, '~1': 10 },
      [{ op: 'test', path: '/~01', value: 10 }],
      { '/': 9, '~1': 10 },
    ],
    [
      'A.16',
      'adding an array value',
      { foo: ['bar'] },
      [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }],
      { foo: ['bar', ['abc', 'def']] },
    ],
  ];

  it.each(EXAMPLES)('has the result of %s: %s', (_section, _title, document, patch, expected) => {
    expect(applyPatch(document, patch, {})).toEqual(expected);
  });

  it('refuses A.9: testing a value: error', () => {
    const patch: JsonPatch = [{ op: 'test', path: '/baz', value: 'bar' }];
    expect(refusalOf(() => applyPatch({ baz: 'qux' }, patch, {})).code).toBe('patch_test_failed');
  });

  it('refuses A.12: adding to a nonexistent target', () => {
    const patch: JsonPatch = [{ op: 'add', path: '/baz/bat', value: 'qux' }];
    expect(refusalOf(() => applyPatch({ foo: 'bar' }, patch, {})).code).toBe('invalid_patch');
  });

  it('refuses A.15: comparing strings and numbers', () => {
    const patch: JsonPatch = [{ op: 'test', path: '/~01', value: '10' }];
    expect(refusalOf(() => applyPatch({ '/': 9, '~1': 10 }, patch, {})).code).toBe('patch_test_failed');
  });
});

describe('any patch of any document', () => {
  const token = fc.constantFrom(
    '',
    'a',
    'b',
    '0',
    '1',
    '2',
    '01',
    '-',
    '~0',
    '~1',
    '__proto__',
    'constructor',
    'toString',
  );
  const pointer = fc.array(token, { maxLength: 3 }).map((tokens) => tokens.map((one) => `/${one}`).join(''));

  const { document } = fc.letrec((tie) => ({
    document: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(null, 0, 1, '', 'x', true),
      fc.array(tie('document'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', '0', '', '__proto__', 'constructor', 'hasOwnProperty'), tie('document'), {
        maxKeys: 3,
      }),
    ),
  }));

  const operation = fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value: document }),
    fc.record({ op: fc.constant('remove'), path: pointer }),
    fc.record({ op: fc.constantFrom('move', 'copy'), from: pointer, path: pointer }),
  );
  const patch = fc.array(operation, { maxLength: 6 }).map((operations) => operations as JsonPatch);
  const scope = fc.constantFrom({}, { changeable: ['a', '__proto__'], readOnly: ['b', ''] });

  /** The outcome of a patch: the document after it, or the code that it is refused with. */
  function outcomeOf(...input: Parameters<typeof applyPatch>): { document: unknown } | { code: string } {
    try {
      return { document: applyPatch(...input) };
    } catch (error) {
      if (isFlagsError(error)) return { code: error.code };
      throw error;
    }
  }

  /** A removed document is null for readers, but the same patch cannot replace it. */
  function keepsTheWhole(operations: JsonPatch): boolean {
    return operations.every(({ op, path }) => op !== 'remove' || path !== '');
  }

  it('is applied or refused without other errors, and changes neither document nor patch', () => {
    fc.assert(
      fc.property(document, patch, scope, (target, operations, within) => {
        const before = JSON.stringify([target, operations]);
        outcomeOf(target, operations, within);
        expect(JSON.stringify([target, operations])).toBe(before);
      }),
      { numRuns: 2000 },
    );
  });

  it('has the same result as its operations one after the other', () => {
    fc.assert(
      fc.property(document, patch.filter(keepsTheWhole), (target, operations) => {
        let stepwise = outcomeOf(target, [], {});
        for (const one of operations) {
          if ('document' in stepwise) stepwise = outcomeOf(stepwise.document, [one], {});
        }
        expect(outcomeOf(target, operations, {})).toEqual(stepwise);
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps unchanged members', () => {
    const kept = { id: { n: 1 }, a: { x: 1 }, b: [1] };
    const place = fc.constantFrom('/id', '/id/n', '/a', '/a/x', '/b', '/b/0', '/b/-');
    const change = fc.oneof(
      fc.record({ op: fc.constantFrom('add', 'replace'), path: place, value: document }),
      fc.record({ op: fc.constant('remove'), path: place }),
      fc.record({ op: fc.constantFrom('move', 'copy'), from: place, path: place }),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 5 }), (operations) => {
        const outcome = outcomeOf(kept, operations as JsonPatch, { changeable: ['a', 'b'], readOnly: ['id'] });
        if ('document' in outcome) expect(outcome.document).toMatchObject({ id: kept.id });
        else expect(outcome.code).toBe('invalid_patch');
      }),
      { numRuns: 1000 },
    );
  });
});
