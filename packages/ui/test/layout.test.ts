import fc from 'fast-check';
import { isForNobody } from '../app/model/audience.js';
import { effectTable } from '../app/model/effect-table.js';
import { productionFirst } from '../app/model/environments.js';
import { expiryState } from '../app/model/expiry.js';
import { environmentWidth, fitColumns, type OptionalColumn } from '../app/model/flag-columns.js';

// Narrower lists have cards.
const width = fc.double({ min: 51, max: 130, noNaN: true });
const optional = fc
  .uniqueArray(fc.constantFrom<OptionalColumn>('seen', 'type', 'hours'))
  .map((names) => new Set(names));
const wanted = fc.record({
  name: fc.double({ min: 0, max: 60, noNaN: true }),
  environments: fc
    .array(fc.nat(60), { minLength: 1, maxLength: 8 })
    .map((lengths) => lengths.map((length) => environmentWidth('production', ['x'.repeat(length)]))),
  isViewed: fc.boolean(),
  optional,
});
const OPTIONAL = { seen: 7, type: 8, hours: 9.5 } as const;
const CHECK = 3;
const VIEWED = 11;

it('gives names in a wider list at least the place of a narrower one, until the longest is whole', () => {
  const nameWidth = (available: number, columns: Parameters<typeof fitColumns>[1]) => {
    const { environments, optional: shown } = fitColumns(available, columns);
    const others = [
      ...environments,
      ...[...shown].map((column) => OPTIONAL[column]),
      CHECK,
      columns.isViewed ? VIEWED : 0,
    ];
    return available - others.reduce((sum, one) => sum + one, 0);
  };
  fc.assert(
    fc.property(wanted, width, width, (columns, one, other) => {
      const [narrow, wide] = [Math.min(one, other), Math.max(one, other)];
      const least = Math.min(nameWidth(narrow, columns), columns.name);
      expect(nameWidth(wide, columns)).toBeGreaterThanOrEqual(least - 1e-9);
    }),
  );
});

it.each([
  [[], false],
  [[{ rollout: 0 }], true],
  [[{ rollout: 0 }, { rollout: 0, unknown: 'rolout unknown here: never on' }], true],
  [[{ rollout: 25 }], false],
  [[{ rollout: 0 }, { rollout: 100, targeted: true }], false],
])('knows whether nobody is in the audience %j: %s', (audience, isNobody) => {
  expect(isForNobody(audience)).toBe(isNobody);
});

const ENVIRONMENTS = ['development', 'staging', 'production', 'demo'];

it.each([
  [undefined, ENVIRONMENTS, ['production', 'development', 'staging', 'demo', 'gone']],
  [['demo', 'staging'], ENVIRONMENTS, ['staging', 'demo', 'development', 'production', 'gone']],
  [[], ENVIRONMENTS, ['production', 'development', 'staging', 'demo', 'gone']],
  [undefined, ['test', 'live'], ['live', 'test', 'gone']],
])('with reviewIn %j puts production first', (reviewIn, environments, ordered) => {
  expect(productionFirst(['gone', ...environments], { environments, reviewIn })).toEqual(ordered);
});

it('arranges effects by flag and environment, and names each once', () => {
  const scope = { environments: ENVIRONMENTS, reviewIn: undefined };
  const effect = { project: 'default', before: 'off', after: 'on' } as const;
  const { environments, rows } = effectTable(
    [
      { ...effect, flag: 'search', environment: 'demo' },
      { ...effect, flag: 'banner', environment: 'staging', before: 'absent', after: 'off' },
      { ...effect, flag: 'checkout', environment: 'demo' },
      { ...effect, flag: 'checkout', environment: 'production', before: 'on', after: 'absent' },
    ],
    ['checkout', 'unnoticed'],
    scope,
  );
  expect(environments).toEqual(['production', 'demo']);
  expect(rows.map(({ flag, effects }) => [flag, [...effects.keys()]])).toEqual([
    ['checkout', ['demo', 'production']],
    ['search', ['demo']],
    ['unnoticed', []],
  ]);
});

it.each([
  [null, undefined],
  ['2030-05-01T12:00:00.000Z', 'expired'],
  ['2030-05-01T12:00:00.001Z', 'soon'],
  ['2030-05-15T12:00:00.000Z', 'soon'],
  ['2030-05-15T12:00:00.001Z', undefined],
])('marks a token that expires at %s as %s', (expiresAt, state) => {
  expect(expiryState(expiresAt, Date.parse('2030-05-01T12:00:00.000Z'))).toBe(state);
});
