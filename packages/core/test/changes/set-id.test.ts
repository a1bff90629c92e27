import { newSetId } from '../../src/changes/engine.js';

const TIME = Date.parse('2026-03-01T12:00:00.000Z');

it('is a UUID of version 7 with the time in milliseconds', () => {
  const id = newSetId(TIME);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(TIME);
});

it('differs each time, also after the random bytes were renewed', () => {
  const ids = Array.from({ length: 1_000 }, () => newSetId(TIME));
  expect(new Set(ids).size).toBe(ids.length);
});

it('grows with the time', () => {
  const ids = Array.from({ length: 100 }, (_, index) => newSetId(TIME + index));
  expect(ids.toSorted()).toEqual(ids);
});

it('is made for a clock that shows a time before 1970', () => {
  expect(newSetId(-1)).toMatch(/^00000000-0000-7/);
});
