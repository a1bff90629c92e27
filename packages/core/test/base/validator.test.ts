import { createValidator } from '../../src/base/validator.js';
import { FlagsError } from '../../src/errors.js';
import { faultsOf, pathsOf } from './facts.js';

const TEXT = { type: 'string' };

describe('a validator', () => {
  const validate = createValidator({
    type: 'object',
    properties: {
      name: { ...TEXT, minLength: 2 },
      kind: { ...TEXT, enum: ['one', 'other'] },
      at: { ...TEXT, format: 'date-time' },
      'a/b~c': { type: 'integer' },
      inner: { type: 'object', properties: { x: TEXT }, required: ['x', 'y/z'], additionalProperties: false },
      list: { type: 'array', items: TEXT, maxItems: 2 },
    },
    required: ['name'],
  });

  it('gives its input back as it is, with members it does not know', () => {
    const input = { name: 'ab', unheardOf: [{}] };
    expect(validate(input)).toBe(input);
  });

  it('reports one issue each, with a message and a path', () => {
    expect(faultsOf(validate, { name: 'a', kind: 'third', at: 'noon', list: [1] })).toEqual([
      { message: 'must NOT have fewer than 2 characters', path: '/name' },
      { message: 'must be one of one, other', path: '/kind' },
      { message: 'must be an ISO 8601 date and time', path: '/at' },
      { message: 'must be string', path: '/list/0' },
    ]);
  });

  it('names the place of missing and unknown members', () => {
    expect(faultsOf(validate, { inner: { '~w': 1 } })).toEqual([
      { message: 'is required', path: '/name' },
      { message: 'is required', path: '/inner/x' },
      { message: 'is required', path: '/inner/y~1z' },
      { message: 'is not known here', path: '/inner/~0w' },
    ]);
  });

  it('escapes the names of members in places', () => {
    expect(pathsOf(validate, { name: 'ab', 'a/b~c': 1.5 })).toEqual(['/a~1b~0c']);
  });

  it('reports a value of the wrong type once, even if it is not in the enum either', () => {
    expect(faultsOf(validate, { name: 'ab', kind: 7 })).toEqual([{ message: 'must be string', path: '/kind' }]);
  });

  it.each([null, undefined, 7, 'text', [], true])('refuses %j as a whole', (input) => {
    expect(faultsOf(validate, input)).toEqual([{ message: 'must be object', path: '' }]);
  });

  it('coerces nothing and fills nothing in', () => {
    const strict = createValidator({
      type: 'object',
      properties: { n: { type: 'integer' }, b: { type: 'boolean' }, s: TEXT, d: { ...TEXT, default: 'x' } },
    });
    expect(pathsOf(strict, { n: '1', b: 'true', s: 1 })).toEqual(['/n', '/b', '/s']);
    const input = {};
    strict(input);
    expect(input).toEqual({});
  });

  it('counts more faults than it lists', () => {
    const list = createValidator({ type: 'array', items: TEXT });
    const input = Array.from({ length: 150 }, (_, n) => n);
    expect(faultsOf(list, input)).toHaveLength(100);
    expect(() => list(input)).toThrow('/0 must be string (and at least 99 more)');
  });

  it('asks for further faults only when the shape is right', () => {
    const asked: unknown[] = [];
    const further = createValidator<{ name: string }>({ type: 'object', required: ['name'] }, (input) => {
      asked.push(input);
      return input.name === 'bad' ? [{ message: 'must be good', path: '/name' }] : [];
    });
    expect(faultsOf(further, {})).toEqual([{ message: 'is required', path: '/name' }]);
    expect(faultsOf(further, { name: 'bad' })).toEqual([{ message: 'must be good', path: '/name' }]);
    expect(faultsOf(further, { name: 'good' })).toEqual([]);
    expect(asked).toHaveLength(2);
  });

  it('accepts inherited names', () => {
    const own = createValidator({ type: 'object', additionalProperties: TEXT });
    expect(pathsOf(own, JSON.parse('{"__proto__":1,"constructor":2,"toString":"x"}'))).toEqual([
      '/__proto__',
      '/constructor',
    ]);
  });

  it('refuses with an error of one sentence that names the first fault', () => {
    expect(() => validate({})).toThrow(FlagsError);
    expect(() => validate({})).toThrow('The input is not valid: /name is required.');
  });
});
