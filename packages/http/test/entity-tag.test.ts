import { entityTag, namesTag, parseTagCondition, revisionsIn } from '../src/caching.js';

describe('a condition on entity tags', () => {
  it.each<[string, ReturnType<typeof parseTagCondition>]>([
    ['*', '*'],
    [' * ', '*'],
    ['"a"', ['a']],
    ['W/"a"', ['a']],
    ['"a", W/"b" ,"c"', ['a', 'b', 'c']],
    ['"a",, "b",', ['a', 'b']],
    ['"with, comma"', ['with, comma']],
    ['""', ['']],
    ['', []],
    ['a', []],
    ['"a', []],
    ['"a" "b"', []],
    ['"a", *', []],
    ['w/"a"', []],
    [`${'"a",'.repeat(2000)}"`, []],
  ])('reads %s', (header, condition) => {
    expect(parseTagCondition(header)).toEqual(condition);
  });
});

describe('the revisions in If-Match', () => {
  it.each<[string, readonly number[] | undefined]>([
    ['*', undefined],
    ['"7-abc"', [7]],
    ['W/"7-abc"', [7]],
    ['"7"', [7]],
    ['"7-abc", "9-def"', [7, 9]],
    ['"0123456789abcdef0123456789abcdef"', []],
    ['"01234567890123456789012345678901"', []],
    ['"abc"', []],
    ['"-7"', []],
    ['7', []],
    ['', []],
  ])('of %s are %s', (header, revisions) => {
    expect(revisionsIn(header)).toEqual(revisions);
  });
});

describe('an entity tag', () => {
  it('differs when the body differs and the revision does not', () => {
    expect(entityTag('{}', 3)).not.toBe(entityTag('[]', 3));
    expect(revisionsIn(entityTag('{}', 3))).toEqual([3]);
  });

  it('without a revision matches none', () => {
    expect(revisionsIn(entityTag('{}', undefined))).toEqual([]);
  });

  it('matches itself, its weak form, a list and *', () => {
    const tag = entityTag('{}', 3);
    for (const header of [tag, `W/${tag}`, `"x", ${tag}`, '*']) expect(namesTag(header, tag)).toBe(true);
    for (const header of [undefined, '"x"', '3', tag.slice(1)]) expect(namesTag(header, tag)).toBe(false);
  });
});
