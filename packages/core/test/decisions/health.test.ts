import fc from 'fast-check';
import { createSettings } from '../../src/options.js';
import { healthOf } from '../../src/projects/project.operations.js';

const DAY = 86_400_000;
const NOW = new Date('2026-06-01T00:00:00.000Z');
const { flagTypes } = createSettings({});

/** A flag of so many milliseconds. */
function aged(age: number, changes: { type?: string; stale?: boolean } = {}) {
  return { type: 'release', stale: false, createdAt: new Date(NOW.getTime() - age).toISOString(), ...changes };
}

describe('health', () => {
  it('is 100 without flags', () => {
    expect(healthOf([], flagTypes, NOW)).toBe(100);
  });

  it.each([
    ['release', 40],
    ['experiment', 40],
    ['operational', 7],
  ])('counts a flag of the type %s as potentially stale after %i days, not at them', (type, days) => {
    expect(healthOf([aged(days * DAY, { type })], flagTypes, NOW)).toBe(100);
    expect(healthOf([aged(days * DAY + 1, { type })], flagTypes, NOW)).toBe(0);
  });

  it.each(['kill-switch', 'permission', 'unheard-of', '__proto__'])(
    'never counts a flag of the type %s as old',
    (type) => {
      expect(healthOf([aged(10_000 * DAY, { type })], flagTypes, NOW)).toBe(100);
      expect(healthOf([aged(0, { type, stale: true })], flagTypes, NOW)).toBe(0);
    },
  );

  it('counts a stale and old flag once', () => {
    expect(healthOf([aged(100 * DAY, { stale: true }), aged(0)], flagTypes, NOW)).toBe(50);
  });

  it.each([
    [1, 3, 67],
    [2, 3, 33],
    [1, 8, 88],
    [1, 200, 100],
    [1, 1000, 100],
    [999, 1000, 0],
  ])('is rounded: %i stale of %i is %i', (stale, all, expected) => {
    const flags = Array.from({ length: all }, (_, n) => aged(0, { stale: n < stale }));
    expect(healthOf(flags, flagTypes, NOW)).toBe(expected);
  });

  it('is a whole number from 0 to 100, and does not get better by a stale flag', () => {
    const flag = fc
      .record({ stale: fc.boolean(), age: fc.nat({ max: 60 }) })
      .map(({ stale, age }) => aged(age * DAY, { stale }));
    fc.assert(
      fc.property(fc.array(flag, { maxLength: 20 }), (flags) => {
        const health = healthOf(flags, flagTypes, NOW);
        expect(Number.isInteger(health) && health >= 0 && health <= 100).toBe(true);
        expect(healthOf([...flags, aged(0, { stale: true })], flagTypes, NOW)).toBeLessThanOrEqual(health);
      }),
    );
  });
});
