import type { JsonPatch, JsonPatchOperation } from '../../src/base/common.types.js';
import { applyPatch } from '../../src/base/json-patch.js';
import type { ErrorCode } from '../../src/errors.js';
import { refusalOf } from './refusal.js';

const DOCUMENT = { a: { b: [1, 2] }, c: null };

const REFUSED: readonly (readonly [string, JsonPatchOperation, ErrorCode, string])[] = [
  ['adding under a member that is missing', { op: 'add', path: '/x/y', value: 1 }, 'invalid_patch', '/0/path'],
  ['adding to a number', { op: 'add', path: '/a/b/0/x', value: 1 }, 'invalid_patch', '/0/path'],
  ['adding to null', { op: 'add', path: '/c/x', value: 1 }, 'invalid_patch', '/0/path'],
  ['adding beyond the end', { op: 'add', path: '/a/b/3', value: 1 }, 'invalid_patch', '/0/path'],
  ['adding at an index with a leading zero', { op: 'add', path: '/a/b/01', value: 1 }, 'invalid_patch', '/0/path'],
  ['adding at a negative index', { op: 'add', path: '/a/b/-1', value: 1 }, 'invalid_patch', '/0/path'],
  ['adding at a broken index', { op: 'add', path: '/a/b/1.0', value: 1 }, 'invalid_patch', '/0/path'],
  ['adding at an index in exponents', { op: 'add', path: '/a/b/1e0', value: 1 }, 'invalid_patch', '/0/path'],
  ['adding to the length of an array', { op: 'add', path: '/a/b/length', value: 1 }, 'invalid_patch', '/0/path'],
  ['removing what is missing', { op: 'remove', path: '/x' }, 'invalid_patch', '/0/path'],
  ['removing the end of an array', { op: 'remove', path: '/a/b/-' }, 'invalid_patch', '/0/path'],
  ['removing at a leading zero', { op: 'remove', path: '/a/b/00' }, 'invalid_patch', '/0/path'],
  ['removing beyond the end', { op: 'remove', path: '/a/b/2' }, 'invalid_patch', '/0/path'],
  ['removing an inherited member', { op: 'remove', path: '/toString' }, 'invalid_patch', '/0/path'],
  ['replacing what is missing', { op: 'replace', path: '/x', value: 1 }, 'invalid_patch', '/0/path'],
  ['replacing an inherited member', { op: 'replace', path: '/toString', value: 1 }, 'invalid_patch', '/0/path'],
  ['replacing an inherited constructor', { op: 'replace', path: '/constructor', value: 1 }, 'invalid_patch', '/0/path'],
  ['replacing the prototype', { op: 'replace', path: '/__proto__', value: {} }, 'invalid_patch', '/0/path'],
  ['adding to the prototype', { op: 'add', path: '/__proto__/x', value: 1 }, 'invalid_patch', '/0/path'],
  [
    'adding to a constructor’s prototype',
    { op: 'add', path: '/constructor/prototype/x', value: 1 },
    'invalid_patch',
    '/0/path',
  ],
  ['moving from nowhere', { op: 'move', from: '/x', path: '/y' }, 'invalid_patch', '/0/from'],
  ['moving into itself', { op: 'move', from: '/a', path: '/a/x' }, 'invalid_patch', '/0/path'],
  ['moving the whole into a part', { op: 'move', from: '', path: '/a' }, 'invalid_patch', '/0/path'],
  ['moving beyond the end of what is left', { op: 'move', from: '/a/b/0', path: '/a/b/2' }, 'invalid_patch', '/0/path'],
  ['copying from nowhere', { op: 'copy', from: '/a/b/2', path: '/y' }, 'invalid_patch', '/0/from'],
  ['copying the prototype', { op: 'copy', from: '/__proto__', path: '/y' }, 'invalid_patch', '/0/from'],
  ['copying to nowhere', { op: 'copy', from: '/a', path: '/x/y' }, 'invalid_patch', '/0/path'],
  ['testing what is missing', { op: 'test', path: '/x', value: null }, 'patch_test_failed', '/0'],
  ['testing an inherited member', { op: 'test', path: '/toString', value: null }, 'patch_test_failed', '/0'],
  ['testing the end of an array', { op: 'test', path: '/a/b/-', value: 2 }, 'patch_test_failed', '/0'],
  ['testing for fewer members', { op: 'test', path: '/a', value: {} }, 'patch_test_failed', '/0'],
  ['testing an array for an object', { op: 'test', path: '/a/b', value: { 0: 1, 1: 2 } }, 'patch_test_failed', '/0'],
  ['adding nothing', { op: 'add', path: '/x', value: undefined }, 'invalid_patch', '/0/value'],
  ['adding a function', { op: 'add', path: '/x', value: () => 1 }, 'invalid_patch', '/0/value'],
];

describe('a patch', () => {
  it.each(REFUSED)('is refused for %s', (_, operation, code, path) => {
    const refusal = refusalOf(() => applyPatch(DOCUMENT, [operation], {}));
    expect(refusal).toMatchObject({ code, details: [{ path }] });
    expect(DOCUMENT).toEqual({ a: { b: [1, 2] }, c: null });
  });

  it('is carried out whole or not at all, naming the operation that failed', () => {
    const document = { a: 1 };
    const patch: JsonPatch = [
      { op: 'replace', path: '/a', value: 2 },
      { op: 'remove', path: '/b' },
    ];
    expect(refusalOf(() => applyPatch(document, patch, {})).details).toMatchObject([{ path: '/1/path' }]);
    expect(document).toEqual({ a: 1 });
  });

  it('never grows a document without bound', () => {
    const grow: JsonPatch = Array.from({ length: 60 }, () => ({ op: 'copy', from: '', path: '/-' }));
    expect(refusalOf(() => applyPatch(['aaaaaaaaaaaaaaaa'], grow, {})).code).toBe('invalid_patch');
  });

  it('may copy 500,000 characters of JSON, and no more', () => {
    const copied = (length: number) => () =>
      applyPatch({ a: 'x'.repeat(length - 2) }, [{ op: 'copy', from: '/a', path: '/b' }], {});
    expect(copied(500_000)()).toHaveProperty('b');
    const { message, details } = refusalOf(copied(500_001));
    expect(message).toContain('copies more than a patch may');
    expect(details).toMatchObject([{ path: '/0/path' }]);
  });

  it('never moves an item into its own successor', () => {
    const items = [{ name: 'first' }, { name: 'second' }];
    const { message, details } = refusalOf(() => applyPatch(items, [{ op: 'move', from: '/0', path: '/0/item' }], {}));
    expect(message).toContain('lies inside of what is moved');
    expect(details).toMatchObject([{ path: '/0/path' }]);
  });

  it('without a value, or with invalid JSON, is refused with the reason', () => {
    const refusal = refusalOf(() => applyPatch({}, [{ op: 'add', path: '/x', value: undefined }], {}));
    expect(refusal.message).toContain('is required, as JSON');
  });

  it('whose test fails is refused with the operation', () => {
    const { details } = refusalOf(() => applyPatch({ a: 1 }, [{ op: 'test', path: '/a', value: 2 }], {}));
    expect(details).toEqual([{ message: 'does not hold', path: '/0' }]);
  });

  it('is refused when it contains itself', () => {
    const value: unknown[] = [];
    value.push(value);
    const refusal = refusalOf(() => applyPatch({}, [{ op: 'add', path: '/a', value }], {}));
    expect(refusal.code).toBe('invalid_patch');
    expect(refusal.message).toBe('The patch cannot be applied: it is nested too deeply, or in itself.');
  });

  it('is refused when it is nested without end', () => {
    let value: unknown = [];
    for (let depth = 0; depth < 100_000; depth++) value = [value];
    expect(refusalOf(() => applyPatch({}, [{ op: 'add', path: '/a', value }], {})).code).toBe('invalid_patch');
  });

  it.each([1000, 2000, 3000, 4000, 5000, 6000])(
    'is applied or refused, never failing, when it is nested %i deep',
    (depth) => {
      const value = JSON.parse('['.repeat(depth) + ']'.repeat(depth));
      const patch: JsonPatch = [
        { op: 'add', path: '/a', value },
        { op: 'copy', from: '/a', path: '/b' },
        { op: 'test', path: '/b', value },
      ];
      const outcome = () => {
        applyPatch({}, patch, {});
        return 'applied';
      };
      try {
        expect(outcome()).toBe('applied');
      } catch (error) {
        expect(error).toMatchObject({ name: 'FlagsError', code: 'invalid_patch' });
      }
    },
  );

  it('is refused when it nests a document so deeply piece by piece', () => {
    const depth = 500;
    const value = JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    const bottom = '/0'.repeat(depth - 1);
    const patch: JsonPatch = Array.from({ length: 24 }, (_, n) => {
      return { op: 'add', path: `/a${`${bottom}/0`.repeat(n)}`, value };
    });
    expect(refusalOf(() => applyPatch({}, patch, {})).code).toBe('invalid_patch');
  });

  it('is refused at once when what it adds would be long to print', () => {
    const depth = 1500;
    const value = JSON.parse(`${'['.repeat(depth)}${Array(100_000).fill(1)}${']'.repeat(depth)}`);
    const start = performance.now();
    expect(refusalOf(() => applyPatch({}, [{ op: 'add', path: '/x/y', value }], {})).code).toBe('invalid_patch');
    const patch: JsonPatch = [
      { op: 'add', path: '/a', value },
      { op: 'remove', path: '/b' },
    ];
    expect(refusalOf(() => applyPatch({}, patch, {})).details).toMatchObject([{ path: '/1/path' }]);
    expect(performance.now() - start).toBeLessThan(300);
  });

  it('that adds a bigint is refused', () => {
    expect(refusalOf(() => applyPatch({}, [{ op: 'add', path: '/a', value: 1n }], {})).code).toBe('invalid_patch');
  });
});

describe('the scope of a patch', () => {
  const scope = { changeable: ['a', 'b'], readOnly: ['id'] };
  const document = { id: 7, a: 1, b: { c: 2 } };

  function patched(operation: JsonPatchOperation): unknown {
    return applyPatch(document, [operation], scope);
  }

  it('ignores changes of kept members', () => {
    expect(patched({ op: 'replace', path: '/id', value: 8 })).toEqual(document);
    expect(patched({ op: 'remove', path: '/id' })).toEqual(document);
    expect(patched({ op: 'add', path: '/id/x', value: 8 })).toEqual(document);
    expect(patched({ op: 'move', from: '/a', path: '/id' })).toEqual(document);
    expect(patched({ op: 'copy', from: '/a', path: '/id' })).toEqual(document);
  });

  it('permits tests, copies and moves of kept members', () => {
    expect(patched({ op: 'test', path: '/id', value: 7 })).toEqual(document);
    expect(patched({ op: 'copy', from: '/id', path: '/a' })).toEqual({ ...document, a: 7 });
    expect(patched({ op: 'move', from: '/id', path: '/b/d' })).toEqual({ ...document, b: { c: 2, d: 7 } });
    expect(refusalOf(() => patched({ op: 'test', path: '/id', value: 8 })).code).toBe('patch_test_failed');
  });

  it.each<[JsonPatchOperation, string, string]>([
    [{ op: 'add', path: '/other', value: 1 }, '/other', '/0/path'],
    [{ op: 'test', path: '/other', value: 1 }, '/other', '/0/path'],
    [{ op: 'replace', path: '', value: {} }, 'the whole document', '/0/path'],
    [{ op: 'copy', from: '', path: '/a' }, 'the whole document', '/0/from'],
    [{ op: 'move', from: '/other', path: '/a' }, '/other', '/0/from'],
    [{ op: 'add', path: '/__proto__', value: 1 }, '/__proto__', '/0/path'],
    [{ op: 'add', path: '/constructor', value: 1 }, '/constructor', '/0/path'],
    [{ op: 'add', path: '/', value: 1 }, '/', '/0/path'],
  ])('refuses what lies outside of it, and names the places inside: %j', (operation, place, path) => {
    const refusal = refusalOf(() => patched(operation));
    expect(refusal.code).toBe('invalid_patch');
    expect(refusal.message).toContain(`leads to ${place}; a patch may change /a, /b`);
    expect(refusal.details).toMatchObject([{ path }]);
  });
});
