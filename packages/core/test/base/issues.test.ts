import { Ajv, type ValidateFunction } from 'ajv';
import fc from 'fast-check';
import { processorTime } from '../../../../test/processor-time.js';
import { parseIsoDate } from '../../src/base/primitives.js';
import { createValidator } from '../../src/base/validator.js';
import { type ErrorDetail, FlagsError } from '../../src/index.js';
import { inputSchemas, type JsonSchema } from '../../src/integration.js';
import { createSettings } from '../../src/options.js';
import { faultsOf } from './facts.js';

const MIB = 1_048_576;
const SCHEMAS = Object.entries(inputSchemas(createSettings({})));
const validators = SCHEMAS.map(([name, schema]) => [name, createValidator(schema)] as const);

const BODIES_OF_1_MIB = [
  Array.from({ length: MIB / 2 }, () => 1),
  Array.from({ length: MIB / 3 }, () => ({})),
  { constraints: Array.from({ length: MIB / 2 }, () => 1), values: Array.from({ length: MIB / 2 }, () => 1) },
  { name: 'a', constraints: [{ values: Array.from({ length: MIB / 2 }, () => 1) }] },
  { bucket: { toggles: Object.fromEntries(Array.from({ length: MIB / 10 }, (__, n) => [`flag${n}`, 1])) } },
  Object.fromEntries(Array.from({ length: MIB / 10 }, (__, n) => [`member${n}`, 1])),
];

function compile(schema: JsonSchema): ValidateFunction {
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
  ajv.addFormat('date-time', (text: string) => parseIsoDate(text) !== undefined);
  return ajv.compile(schema);
}

/** The paths of all errors of Ajv, in its order; `enum` is left out where the type is wrong. */
function pathsByAjv(validate: ValidateFunction, input: unknown): readonly string[] {
  validate(input);
  const errors = validate.errors ?? [];
  const isMistyped = (path: string) => errors.some((error) => error.keyword === 'type' && error.instancePath === path);
  return errors
    .filter(({ keyword, instancePath }) => keyword !== 'enum' || !isMistyped(instancePath))
    .map(({ instancePath, params }) => {
      const member = params.missingProperty ?? params.additionalProperty ?? params.propertyName;
      const token = String(member).replaceAll('~', '~0').replaceAll('/', '~1');
      return member === undefined ? instancePath : `${instancePath}/${token}`;
    });
}

function timeOf(work: () => void): number {
  const start = processorTime();
  work();
  return processorTime() - start;
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

describe('the issues of input', () => {
  it.each(SCHEMAS)('are those of Ajv, in its order: %s', (_, schema) => {
    const [validate, reference] = [createValidator(schema), compile(schema)];
    fc.assert(
      fc.property(input, (value) => {
        expect(faultsOf(validate, value).map(({ path }) => path)).toEqual(pathsByAjv(reference, value));
      }),
      { numRuns: 60 },
    );
  });

  it.each(validators)('of a body of 1 MiB are at most 100, and take no time or memory: %s', (_, validate) => {
    for (const body of BODIES_OF_1_MIB) {
      const before = process.memoryUsage().heapUsed;
      expect(Math.min(...[1, 2, 3].map(() => timeOf(() => faultsOf(validate, body))))).toBeLessThan(300);
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(32 * MIB);
    }
  });

  it('are not checked in a list above the limit', () => {
    const validate = createValidator({ type: 'array', maxItems: 2, items: { type: 'string' } });
    expect(faultsOf(validate, [1, 2, 3])).toEqual([{ message: 'must NOT have more than 2 items', path: '' }]);
  });

  it('are not looked for any more by a rule that has told 100', () => {
    let asked = 0;
    const validate = createValidator({}, function* rule(): Generator<ErrorDetail> {
      for (; ; asked++) yield { message: 'is bad' };
    });
    expect(faultsOf(validate, 1)).toHaveLength(100);
    expect(asked).toBeLessThan(100);
  });

  it('echo no more than 200 characters of a name, and keep the end of a message', () => {
    const validate = createValidator({ type: 'object', additionalProperties: false });
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
