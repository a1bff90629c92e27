import { createValidators, INPUTS, inputSchemas } from '../../src/input-schemas.js';
import { createSettings } from '../../src/options.js';
import { refusalOf } from '../decision.js';

const SETTINGS = createSettings({
  flagTypes: [
    { name: 'release', lifetimeDays: 40 },
    { name: 'kill', lifetimeDays: null },
  ],
});
const validate = createValidators(SETTINGS);

const LONG = 'x'.repeat(101);
const MANY = Array.from({ length: 12_000 }, () => 'a');

/** The types of flags are checked beside the schema: their issues have the place that the schema would give them. */
const REFUSALS: readonly (readonly [input: 'newFlag' | 'flagChanges', given: unknown, issues: readonly string[]])[] = [
  ['newFlag', { name: 'a', type: 'b' }, ['/type must be one of release, kill']],
  ['newFlag', { type: 'b' }, ['/name is required', '/type must be one of release, kill']],
  [
    'newFlag',
    { name: 7, type: 'b', description: 7, labels: [7], owner: 7 },
    [
      '/name must be string',
      '/description must be a string or null',
      '/type must be one of release, kill',
      '/labels/0 must be string',
      '/owner must be a string or null',
    ],
  ],
  [
    'newFlag',
    { name: LONG, type: '', impressionData: 1 },
    [
      '/name must NOT have more than 100 characters',
      '/type must be one of release, kill',
      '/impressionData must be boolean',
    ],
  ],
  ['newFlag', { name: 'a', type: 7 }, ['/type must be string']],
  [
    'newFlag',
    { name: 'a', type: null, owner: '' },
    ['/type must be string', '/owner must NOT have fewer than 1 characters'],
  ],
  ['newFlag', { name: 'a', type: 'b', labels: ['x', 'x'] }, ['/type must be one of release, kill']],
  ['newFlag', { name: 'a', type: 'kill', labels: ['x', 'x'] }, ['/labels/1 must be unique among the labels']],
  ['newFlag', { name: 'a', type: 'b', labels: MANY }, ['/type must be one of release, kill']],
  ['newFlag', { name: 'a', type: 'kill', labels: MANY }, ['/labels must NOT have more than 20 items']],
  ['newFlag', { name: 7, type: 'b', labels: MANY }, ['/name must be string']],
  ['newFlag', { name: 'a', type: 'toString' }, ['/type must be one of release, kill']],
  ['newFlag', 'checkout', [' must be object']],
  ['newFlag', null, [' must be object']],
  ['newFlag', [], [' must be object']],
  ['flagChanges', { type: 'b' }, ['/type must be one of release, kill']],
  [
    'flagChanges',
    { description: 7, type: 'b', stale: 'no', labels: Array.from({ length: 30 }, () => 7) },
    [
      '/description must be a string or null',
      '/type must be one of release, kill',
      '/stale must be boolean',
      '/labels must NOT have more than 20 items',
    ],
  ],
  [
    'flagChanges',
    { owner: 7, stale: 7, type: 'b' },
    ['/type must be one of release, kill', '/stale must be boolean', '/owner must be a string or null'],
  ],
  ['flagChanges', { type: ['kill'] }, ['/type must be string']],
  ['flagChanges', undefined, [' must be object']],
];

it.each(REFUSALS)('the schema %s and the option flagTypes refuse %j', (input, given, issues) => {
  const { details } = refusalOf(() => validate[input](given));
  expect(details.map(({ path, message }) => `${path} ${message}`)).toEqual(issues);
});

it('the schemas of inputs are plain JSON, which names the types in documents only', () => {
  for (const { schema } of Object.values(INPUTS)) expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  expect(INPUTS.newFlag.schema).toMatchObject({ properties: { type: { type: 'string' } } });
  expect(inputSchemas(SETTINGS).newFlag).toMatchObject({ properties: { type: { enum: ['release', 'kill'] } } });
});
