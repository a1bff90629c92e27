import type { JsonPatch } from '../../src/base/common.types.js';
import { applyPatch } from '../../src/base/json-patch.js';

function patched(document: unknown, ...patch: JsonPatch): unknown {
  return applyPatch(document, patch, {});
}

describe('add', () => {
  it('sets a member that is there already', () => {
    expect(patched({ a: 1 }, { op: 'add', path: '/a', value: 2 })).toEqual({ a: 2 });
  });

  it('puts an item before the one at the index, also before the first and after the last', () => {
    expect(patched(['a', 'b'], { op: 'add', path: '/0', value: 'x' })).toEqual(['x', 'a', 'b']);
    expect(patched(['a', 'b'], { op: 'add', path: '/2', value: 'x' })).toEqual(['a', 'b', 'x']);
    expect(patched(['a', 'b'], { op: 'add', path: '/-', value: 'x' })).toEqual(['a', 'b', 'x']);
    expect(patched([], { op: 'add', path: '/0', value: 'x' })).toEqual(['x']);
  });

  it('replaces the whole document', () => {
    expect(patched({ a: 1 }, { op: 'add', path: '', value: [2] })).toEqual([2]);
  });

  it('takes any JSON value, null, false and the empty text among them', () => {
    for (const value of [null, false, 0, '', [], {}]) {
      expect(patched({}, { op: 'add', path: '/a', value })).toEqual({ a: value });
    }
  });

  it('sets a member of the empty name, and one that looks like an index', () => {
    expect(patched({}, { op: 'add', path: '/', value: 1 }, { op: 'add', path: '/01', value: 2 })).toEqual({
      '': 1,
      '01': 2,
    });
  });
});

describe('remove', () => {
  it('closes the gap in an array', () => {
    expect(patched(['a', 'b', 'c'], { op: 'remove', path: '/0' })).toEqual(['b', 'c']);
  });

  it('leaves null of the whole document', () => {
    expect(patched({ a: 1 }, { op: 'remove', path: '' })).toBeNull();
  });

  it('lets the whole document be added again', () => {
    expect(patched({ a: 1 }, { op: 'remove', path: '' }, { op: 'add', path: '', value: [] })).toEqual([]);
  });
});

describe('replace', () => {
  it('keeps the place of an item', () => {
    expect(patched(['a', 'b', 'c'], { op: 'replace', path: '/1', value: 'x' })).toEqual(['a', 'x', 'c']);
  });

  it('replaces a member whose value is null', () => {
    expect(patched({ a: null }, { op: 'replace', path: '/a', value: 1 })).toEqual({ a: 1 });
  });
});

describe('move', () => {
  it('resolves the index after the removal', () => {
    expect(patched(['a', 'b', 'c'], { op: 'move', from: '/0', path: '/2' })).toEqual(['b', 'c', 'a']);
    expect(patched(['a', 'b', 'c'], { op: 'move', from: '/0', path: '/-' })).toEqual(['b', 'c', 'a']);
    expect(patched(['a', 'b', {}], { op: 'move', from: '/0', path: '/1/x' })).toEqual(['b', { x: 'a' }]);
  });

  it('leaves the document as it is when it leads to where it comes from', () => {
    expect(patched({ a: { b: 1 } }, { op: 'move', from: '/a/b', path: '/a/b' })).toEqual({ a: { b: 1 } });
    expect(patched(['a', 'b'], { op: 'move', from: '/1', path: '/1' })).toEqual(['a', 'b']);
  });

  it('can go to a member whose name begins like its own', () => {
    expect(patched({ a: 1 }, { op: 'move', from: '/a', path: '/ab' })).toEqual({ ab: 1 });
  });

  it('can put a part in the place of the whole', () => {
    expect(patched({ a: { b: 1 } }, { op: 'move', from: '/a', path: '' })).toEqual({ b: 1 });
  });
});

describe('copy', () => {
  it('makes a copy that later operations change alone', () => {
    const patch: JsonPatch = [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/x', value: 1 },
    ];
    expect(patched({ a: {} }, ...patch)).toEqual({ a: {}, b: { x: 1 } });
  });

  it('may point into a copied value', () => {
    expect(patched({ a: { x: 1 } }, { op: 'copy', from: '/a', path: '/a/b' })).toEqual({ a: { x: 1, b: { x: 1 } } });
  });
});

describe('test', () => {
  it('compares members in any order, and items in theirs', () => {
    const document = { a: { x: [1, { y: null }], z: true } };
    expect(patched(document, { op: 'test', path: '/a', value: { z: true, x: [1, { y: null }] } })).toEqual(document);
  });

  it('accepts names of inherited members', () => {
    const document = JSON.parse('{"a":{"hasOwnProperty":1,"__proto__":2}}');
    const value = JSON.parse('{"__proto__":2,"hasOwnProperty":1}');
    expect(patched(document, { op: 'test', path: '/a', value })).toEqual(document);
  });
});

describe('a member with the name of an inherited member', () => {
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'can be added, copied, replaced and removed: %s',
    (name) => {
      const added = patched({}, { op: 'add', path: `/${name}`, value: { a: 1 } });
      expect(Object.keys(added as object)).toEqual([name]);
      const copied = patched(added, { op: 'copy', from: `/${name}`, path: '/other' });
      expect(copied).toMatchObject({ other: { a: 1 } });
      const replaced = patched(added, { op: 'replace', path: `/${name}/a`, value: 2 });
      expect(JSON.stringify(replaced)).toBe(`{"${name}":{"a":2}}`);
      expect(patched(added, { op: 'remove', path: `/${name}` })).toEqual({});
      expect(patched(added, { op: 'move', from: `/${name}`, path: '/a' })).toEqual({ a: { a: 1 } });
    },
  );

  it('never reaches the prototype', () => {
    patched({}, { op: 'add', path: '/__proto__', value: { polluted: true } });
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});
