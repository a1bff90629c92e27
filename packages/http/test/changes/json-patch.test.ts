import type { ErrorCode } from '@flags/core';
import { isWithin } from '../../../../test/processor-time.js';
import { refusalOf } from '../../../core/test/decision.js';
import {
  applyPatch,
  type JsonPatch,
  type JsonPatchOperation,
  parsePointer,
  readPatch,
  topMember,
} from '../../src/changes/json-patch.js';

function patched(document: unknown, ...patch: JsonPatch): unknown {
  return applyPatch(document, patch, {});
}

describe('add', () => {
  it('replaces an existing member', () => {
    expect(patched({ a: 1 }, { op: 'add', path: '/a', value: 2 })).toEqual({ a: 2 });
  });

  it('inserts an item before the one at the index, also before the first and after the last', () => {
    expect(patched(['a', 'b'], { op: 'add', path: '/0', value: 'x' })).toEqual(['x', 'a', 'b']);
    expect(patched(['a', 'b'], { op: 'add', path: '/2', value: 'x' })).toEqual(['a', 'b', 'x']);
    expect(patched(['a', 'b'], { op: 'add', path: '/-', value: 'x' })).toEqual(['a', 'b', 'x']);
    expect(patched([], { op: 'add', path: '/0', value: 'x' })).toEqual(['x']);
  });

  it('replaces the whole document', () => {
    expect(patched({ a: 1 }, { op: 'add', path: '', value: [2] })).toEqual([2]);
  });

  it('accepts any JSON value, also null, false and the empty string', () => {
    for (const value of [null, false, 0, '', [], {}]) {
      expect(patched({}, { op: 'add', path: '/a', value })).toEqual({ a: value });
    }
  });

  it('sets a member with an empty name, and one that looks like an index', () => {
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

  it('permits adding the whole document again', () => {
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

  it('changes nothing when it moves to its own place', () => {
    expect(patched({ a: { b: 1 } }, { op: 'move', from: '/a/b', path: '/a/b' })).toEqual({ a: { b: 1 } });
    expect(patched(['a', 'b'], { op: 'move', from: '/1', path: '/1' })).toEqual(['a', 'b']);
  });

  it('can move to a member whose name starts like its own', () => {
    expect(patched({ a: 1 }, { op: 'move', from: '/a', path: '/ab' })).toEqual({ ab: 1 });
  });

  it('can replace the whole document with a part', () => {
    expect(patched({ a: { b: 1 } }, { op: 'move', from: '/a', path: '' })).toEqual({ b: 1 });
  });
});

describe('copy', () => {
  it('makes a copy that later operations change separately', () => {
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
  it('ignores the order of members, and compares the order of items', () => {
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

describe('a refused JSON Patch', () => {
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
    ['removing a missing member', { op: 'remove', path: '/x' }, 'invalid_patch', '/0/path'],
    ['removing the end of an array', { op: 'remove', path: '/a/b/-' }, 'invalid_patch', '/0/path'],
    ['removing at a leading zero', { op: 'remove', path: '/a/b/00' }, 'invalid_patch', '/0/path'],
    ['removing beyond the end', { op: 'remove', path: '/a/b/2' }, 'invalid_patch', '/0/path'],
    ['removing an inherited member', { op: 'remove', path: '/toString' }, 'invalid_patch', '/0/path'],
    ['replacing a missing member', { op: 'replace', path: '/x', value: 1 }, 'invalid_patch', '/0/path'],
    ['replacing an inherited member', { op: 'replace', path: '/toString', value: 1 }, 'invalid_patch', '/0/path'],
    [
      'replacing an inherited constructor',
      { op: 'replace', path: '/constructor', value: 1 },
      'invalid_patch',
      '/0/path',
    ],
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
    [
      'moving beyond the end of the shortened list',
      { op: 'move', from: '/a/b/0', path: '/a/b/2' },
      'invalid_patch',
      '/0/path',
    ],
    ['copying from nowhere', { op: 'copy', from: '/a/b/2', path: '/y' }, 'invalid_patch', '/0/from'],
    ['copying the prototype', { op: 'copy', from: '/__proto__', path: '/y' }, 'invalid_patch', '/0/from'],
    ['copying to nowhere', { op: 'copy', from: '/a', path: '/x/y' }, 'invalid_patch', '/0/path'],
    ['testing a missing member', { op: 'test', path: '/x', value: null }, 'patch_test_failed', '/0'],
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

    it('is applied as a whole or not at all, and names the operation that failed', () => {
      const document = { a: 1 };
      const patch: JsonPatch = [
        { op: 'replace', path: '/a', value: 2 },
        { op: 'remove', path: '/b' },
      ];
      expect(refusalOf(() => applyPatch(document, patch, {})).details).toMatchObject([{ path: '/1/path' }]);
      expect(document).toEqual({ a: 1 });
    });

    it('never grows a document without limit', () => {
      const grow: JsonPatch = Array.from({ length: 60 }, () => ({ op: 'copy', from: '', path: '/-' }));
      expect(refusalOf(() => applyPatch(['aaaaaaaaaaaaaaaa'], grow, {})).code).toBe('invalid_patch');
    });

    it('may copy 500,000 characters of JSON, and no more', () => {
      const copied = (length: number) => () =>
        applyPatch({ a: 'x'.repeat(length - 2) }, [{ op: 'copy', from: '/a', path: '/b' }], {});
      expect(copied(500_000)()).toHaveProperty('b');
      const { message, details } = refusalOf(copied(500_001));
      expect(message).toContain('copies more than a patch is allowed to copy');
      expect(details).toMatchObject([{ path: '/0/path' }]);
    });

    it('never moves an item into its own descendant', () => {
      const items = [{ name: 'first' }, { name: 'second' }];
      const { message, details } = refusalOf(() =>
        applyPatch(items, [{ op: 'move', from: '/0', path: '/0/item' }], {}),
      );
      expect(message).toContain('lies inside the moved value');
      expect(details).toMatchObject([{ path: '/0/path' }]);
    });

    it('is refused with the reason if it has no value or invalid JSON', () => {
      const refusal = refusalOf(() => applyPatch({}, [{ op: 'add', path: '/x', value: undefined }], {}));
      expect(refusal.message).toContain('is required, as JSON');
    });

    it('is refused with the operation whose test fails', () => {
      const { details, message } = refusalOf(() => applyPatch({ a: 1 }, [{ op: 'test', path: '/a', value: 2 }], {}));
      expect(message).toBe('The test in operation 0 of the patch does not hold; read the current state and try again.');
      expect(details).toEqual([{ message: 'does not hold', path: '/0' }]);
    });

    it('is refused when it contains itself', () => {
      const value: unknown[] = [];
      value.push(value);
      const refusal = refusalOf(() => applyPatch({}, [{ op: 'add', path: '/a', value }], {}));
      expect(refusal.code).toBe('invalid_patch');
      expect(refusal.message).toBe('The patch cannot be applied: it is nested too deeply or contains itself.');
    });

    it('is refused if it is nested infinitely', () => {
      let value: unknown = [];
      for (let depth = 0; depth < 100_000; depth++) value = [value];
      expect(refusalOf(() => applyPatch({}, [{ op: 'add', path: '/a', value }], {})).code).toBe('invalid_patch');
    });

    it.each([1000, 2000, 3000, 4000, 5000, 6000])(
      'is applied or refused, and throws nothing else, when it is nested %i deep',
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

    it('is refused if its operations together nest a document too deeply', () => {
      const depth = 500;
      const value = JSON.parse('['.repeat(depth) + ']'.repeat(depth));
      const bottom = '/0'.repeat(depth - 1);
      const patch: JsonPatch = Array.from({ length: 24 }, (_, n) => {
        return { op: 'add', path: `/a${`${bottom}/0`.repeat(n)}`, value };
      });
      expect(refusalOf(() => applyPatch({}, patch, {})).code).toBe('invalid_patch');
    });

    it('is refused at once if the added value would be long to print', async () => {
      const depth = 1500;
      const value = JSON.parse(`${'['.repeat(depth)}${Array(100_000).fill(1)}${']'.repeat(depth)}`);
      const patch: JsonPatch = [
        { op: 'add', path: '/a', value },
        { op: 'remove', path: '/b' },
      ];
      const refuse = () => {
        expect(refusalOf(() => applyPatch({}, [{ op: 'add', path: '/x/y', value }], {})).code).toBe('invalid_patch');
        expect(refusalOf(() => applyPatch({}, patch, {})).details).toMatchObject([{ path: '/1/path' }]);
      };
      expect(await isWithin(300, refuse)).toBe(true);
    });

    it('is refused if it adds a bigint', () => {
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
    ])('refuses paths outside of it, and names the permitted ones: %j', (operation, place, path) => {
      const refusal = refusalOf(() => patched(operation));
      expect(refusal.code).toBe('invalid_patch');
      expect(refusal.message).toContain(`leads to ${place}; a patch may change /a, /b`);
      expect(refusal.details).toMatchObject([{ path }]);
    });
  });
});

describe('a JSON Pointer', () => {
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

    it('has indexes of two digits', () => {
      expect(read(items, '/10')()).toBe(10);
      expect(refusalOf(read(items, '/11')).code).toBe('invalid_patch');
      expect(insert(items, '/11')()).toEqual([...items, 1]);
      expect(refusalOf(insert(items, '/12')).code).toBe('invalid_patch');
    });
  });

  describe('topMember', () => {
    it('returns the first token, unescaped, and an empty string for the whole document', () => {
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
    ])('is read as RFC 6901 says: %j', (pointer, value) => {
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
    ])('cannot be read from %s', (pointer) => {
      expect(refusalOf(read(DOCUMENT, pointer)).message).toContain(`points to nothing: there is no ${pointer}.`);
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
      expect(refusalOf(insert(DOCUMENT, pointer)).message).toContain('points to nothing');
    });
  });
});

describe('reading a patch', () => {
  it.each<readonly [unknown, readonly string[]]>([
    [[], []],
    [
      [
        { op: 'add', path: '', value: null },
        { op: 'remove', path: '/a~0~1' },
        { op: 'move', from: '/a', path: '/b' },
      ],
      [],
    ],
    [[{ op: 'test', path: '/a', value: false, extra: 1 }], []],
    [{}, ['']],
    [
      [null, 'add'],
      ['/0', '/1'],
    ],
    [[{ op: 'merge', path: '/a' }], ['/0/op']],
    [
      [{ path: '/a' }, { op: 'add' }],
      ['/0/op', '/1/path'],
    ],
    [[{ op: 'add', path: 'a', value: 1 }], ['/0/path']],
    [[{ op: 'add', path: '/~2', value: 1 }], ['/0/path']],
    [[{ op: 'add', path: '/a~', value: 1 }], ['/0/path']],
    [
      [
        { op: 'add', path: '/a' },
        { op: 'copy', path: '/a' },
        { op: 'test', path: '/a' },
      ],
      ['/0/value', '/1/from', '/2/value'],
    ],
    [Array.from({ length: 1001 }, () => ({ op: 'remove', path: '/a' })), ['']],
  ])('accepts, or refuses at their places, operations: %j', (patch, paths) => {
    const pathsOf = () => refusalOf(() => readPatch(patch)).details.map(({ path }) => path);
    if (paths.length > 0) expect(pathsOf()).toEqual(paths);
    else expect(readPatch(patch)).toBe(patch);
  });
});

describe('a pointer of a megabyte', () => {
  it.each<[string, string]>([
    ['of slashes', '/'.repeat(1_000_000)],
    ['below a member', `/description${'/'.repeat(1_000_000)}`],
    ['of escapes', `/${'~0'.repeat(500_000)}`],
    ['of one token', `/${'x'.repeat(1_000_000)}`],
  ])('%s is refused without being matched', async (_shape, pointer) => {
    for (const operation of [
      { op: 'test', path: pointer, value: 1 },
      { op: 'copy', from: pointer, path: '/description' },
    ]) {
      expect(await isWithin(100, async () => refusalOf(() => readPatch([operation])))).toBe(true);
      expect(refusalOf(() => readPatch([operation])).details).toEqual([
        {
          path: expect.stringMatching(/^\/0\/(?:path|from)$/),
          message: expect.stringContaining('at most 4096 characters'),
        },
      ]);
    }
  });
});
