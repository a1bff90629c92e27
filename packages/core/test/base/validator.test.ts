import { Ajv, type ValidateFunction } from 'ajv';
import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { isWithin } from '../../../../test/processor-time.js';
import type { JsonSchema } from '../../src/base/primitives.js';
import { parseIsoDate } from '../../src/base/primitives.js';
import { type ErrorDetail, FlagsError } from '../../src/index.js';
import { inputSchemas } from '../../src/input-schemas.js';
import { createSettings } from '../../src/options.js';
import { validatorOf } from './compile.js';
import { faultsOf, pathsOf } from './issues.js';

describe('a validator', () => {
  const TEXT = { type: 'string' };

  const validate = validatorOf({
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

  it('returns its input unchanged, with unknown members', () => {
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

  it('reports the path of missing and unknown members', () => {
    expect(faultsOf(validate, { inner: { '~w': 1 } })).toEqual([
      { message: 'is required', path: '/name' },
      { message: 'is required', path: '/inner/x' },
      { message: 'is required', path: '/inner/y~1z' },
      { message: 'is not known here', path: '/inner/~0w' },
    ]);
  });

  it('escapes the names of members in paths', () => {
    expect(pathsOf(validate, { name: 'ab', 'a/b~c': 1.5 })).toEqual(['/a~1b~0c']);
  });

  it('reports a value of the wrong type once, even if it is not in the enum either', () => {
    expect(faultsOf(validate, { name: 'ab', kind: 7 })).toEqual([{ message: 'must be string', path: '/kind' }]);
  });

  it.each([
    [['integer', 'null'], 'must be an integer or null'],
    [['string', 'number', 'boolean', 'null'], 'must be a string, a number, a boolean, or null'],
  ])('words alternative types: %j', (type, message) => {
    expect(faultsOf(validatorOf({ type }), {})).toEqual([{ message, path: '' }]);
  });

  it.each([null, undefined, 7, 'text', [], true])('rejects %j as a whole', (input) => {
    expect(faultsOf(validate, input)).toEqual([{ message: 'must be object', path: '' }]);
  });

  it('neither coerces values nor fills in defaults', () => {
    const strict = validatorOf({
      type: 'object',
      properties: { n: { type: 'integer' }, b: { type: 'boolean' }, s: TEXT, d: { ...TEXT, default: 'x' } },
    });
    expect(pathsOf(strict, { n: '1', b: 'true', s: 1 })).toEqual(['/n', '/b', '/s']);
    const input = {};
    strict(input);
    expect(input).toEqual({});
  });

  it('counts more issues than it lists', () => {
    const list = validatorOf({ type: 'array', items: TEXT });
    const input = Array.from({ length: 150 }, (_, n) => n);
    expect(faultsOf(list, input)).toHaveLength(100);
    expect(() => list(input)).toThrow('/0 must be string (and at least 99 more)');
  });

  it('runs further rules only if the shape is valid', () => {
    const asked: unknown[] = [];
    const further = validatorOf<{ name: string }>({ type: 'object', required: ['name'] }, (input) => {
      asked.push(input);
      return input.name === 'bad' ? [{ message: 'must be good', path: '/name' }] : [];
    });
    expect(faultsOf(further, {})).toEqual([{ message: 'is required', path: '/name' }]);
    expect(faultsOf(further, { name: 'bad' })).toEqual([{ message: 'must be good', path: '/name' }]);
    expect(faultsOf(further, { name: 'good' })).toEqual([]);
    expect(asked).toHaveLength(2);
  });

  it('accepts inherited names', () => {
    const own = validatorOf({ type: 'object', additionalProperties: TEXT });
    expect(pathsOf(own, JSON.parse('{"__proto__":1,"constructor":2,"toString":"x"}'))).toEqual([
      '/__proto__',
      '/constructor',
    ]);
  });

  it('throws an error of one sentence that names the first issue', () => {
    expect(() => validate({})).toThrow(FlagsError);
    expect(() => validate({})).toThrow('The input is not valid: /name is required.');
  });
});

describe('the issues of input', () => {
  const MIB = 1_048_576;
  const SCHEMAS = Object.entries(inputSchemas(createSettings({})));
  const validators = SCHEMAS.map(([name, schema]) => [name, validatorOf(schema)] as const);

  const BODIES_OF_1_MIB = [
    Array.from({ length: MIB / 2 }, () => 1),
    Array.from({ length: MIB / 3 }, () => ({})),
    { constraints: Array.from({ length: MIB / 2 }, () => 1), values: Array.from({ length: MIB / 2 }, () => 1) },
    { name: 'a', constraints: [{ values: Array.from({ length: MIB / 2 }, () => 1) }] },
    { bucket: { toggles: Object.fromEntries(Array.from({ length: MIB / 10 }, (__, n) => [`flag${n}`, 1])) } },
    Object.fromEntries(Array.from({ length: MIB / 10 }, (__, n) => [`member${n}`, 1])),
  ];

  function compileWithAjv(schema: JsonSchema): ValidateFunction {
    const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
    ajv.addFormat('date-time', (text: string) => parseIsoDate(text) !== undefined);
    return ajv.compile(schema);
  }

  /** The paths of all errors of Ajv, in its order; omits `enum` where the type is wrong. */
  function pathsByAjv(validate: ValidateFunction, input: unknown): readonly string[] {
    validate(input);
    const errors = validate.errors ?? [];
    const isMistyped = (path: string) =>
      errors.some((error) => error.keyword === 'type' && error.instancePath === path);
    return errors
      .filter(({ keyword, instancePath }) => keyword !== 'enum' || !isMistyped(instancePath))
      .map(({ instancePath, params }) => {
        const member = params.missingProperty ?? params.additionalProperty ?? params.propertyName;
        const token = String(member).replaceAll('~', '~0').replaceAll('/', '~1');
        return member === undefined ? instancePath : `${instancePath}/${token}`;
      });
  }

  const MEMBERS = [
    'name',
    'constraints',
    'values',
    'value',
    'segments',
    'variants',
    'payload',
    'type',
    'bucket',
    'toggles',
  ];
  const { input } = fc.letrec((tie) => ({
    input: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom<unknown>(null, 0, 1.5, true, '', 'a b', 'IN', '2026-02-30', '~/', '..'),
      fc.array(tie('input'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...MEMBERS, 'operator', 'contextName', 'x~y/z', 'start'), tie('input'), {
        maxKeys: 5,
      }),
    ),
  }));

  it.each(SCHEMAS)('match those of Ajv, in its order: %s', (_, schema) => {
    const [validate, reference] = [validatorOf(schema), compileWithAjv(schema)];
    fc.assert(
      fc.property(input, (value) => {
        expect(faultsOf(validate, value).map(({ path }) => path)).toEqual(pathsByAjv(reference, value));
      }),
      { numRuns: extent({ short: 15, full: 300 }) },
    );
  });

  it.each(validators)(
    'are at most 100 for a body of 1 MiB, and take little time and memory: %s',
    async (_, validate) => {
      for (const body of BODIES_OF_1_MIB) {
        const before = process.memoryUsage().heapUsed;
        expect(await isWithin(300, () => faultsOf(validate, body))).toBe(true);
        expect(process.memoryUsage().heapUsed - before).toBeLessThan(32 * MIB);
      }
    },
  );

  it('need no memory for the indexes of a long list', () => {
    const validate = validatorOf({ type: 'object' });
    const [list] = BODIES_OF_1_MIB;
    const before = process.memoryUsage().heapUsed;
    expect(faultsOf(validate, list)).toHaveLength(1);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(4 * MIB);
  });

  it('are not searched for in a list above the limit', () => {
    const validate = validatorOf({ type: 'array', maxItems: 2, items: { type: 'string' } });
    expect(faultsOf(validate, [1, 2, 3])).toEqual([{ message: 'must NOT have more than 2 items', path: '' }]);
  });

  it('are not collected any more after a rule has reported 100', () => {
    let asked = 0;
    const validate = validatorOf({}, function* rule(): Generator<ErrorDetail> {
      for (; ; asked++) yield { message: 'is bad' };
    });
    expect(faultsOf(validate, 1)).toHaveLength(100);
    expect(asked).toBeLessThan(100);
  });

  it('contain at most 200 characters of a name, and the end of a message', () => {
    const validate = validatorOf({ type: 'object', additionalProperties: false });
    const [issue] = faultsOf(validate, { [`begin${'~'.repeat(MIB)}end`]: 1 });
    expect(issue?.path).toMatch(/^\/begin.*…/);
    expect(issue?.path?.length).toBeLessThanOrEqual(200);
    const error = new FlagsError('flag_not_found', `There is no flag ${'😀'.repeat(MIB)}; create it.`);
    expect(error.message).toMatch(/^There is no flag .*…[^…]*; create it\.$/u);
    expect(error.message.length).toBeLessThanOrEqual(1000);
    expect(() => encodeURIComponent(error.message)).not.toThrow();
    expect(error.details).toEqual([{ message: error.message }]);
  });
});
