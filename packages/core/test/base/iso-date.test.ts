import fc from 'fast-check';
import { parseIsoDate, toTimestamp } from '../../src/base/primitives.js';

describe('an ISO 8601 date', () => {
  it.each([
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T12:30Z', '2026-03-01T12:30:00.000Z'],
    ['2026-03-01T12:30:45Z', '2026-03-01T12:30:45.000Z'],
    ['2026-03-01T12:30:45.6Z', '2026-03-01T12:30:45.600Z'],
    ['2026-03-01T12:30:45.678Z', '2026-03-01T12:30:45.678Z'],
    ['2026-03-01T12:30:45.678999999Z', '2026-03-01T12:30:45.678Z'],
    ['2026-03-01T12:30:45+05:30', '2026-03-01T07:00:45.000Z'],
    ['2026-03-01T12:30:45-0800', '2026-03-01T20:30:45.000Z'],
    ['2026-03-01T12:30:45.1234-08:00', '2026-03-01T20:30:45.123Z'],
    ['2026-03-01T12:30:45', '2026-03-01T12:30:45.000Z'],
    ['2026-03-01 12:30:45', '2026-03-01T12:30:45.000Z'],
    ['2026-03-01t12:30:45z', '2026-03-01T12:30:45.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29', '2000-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, timestamp) => {
    expect(toTimestamp(text)).toBe(timestamp);
  });

  it.each([
    '',
    '2026',
    '2026-03',
    '2026-3-1',
    '2026-02-30T00:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    '2026-02-29',
    '2026-02-30',
    '2026-04-31',
    '1900-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '2026-01-32',
    '2026-03-01T25:00:00Z',
    '2026-03-01T12:60:00Z',
    '2026-03-01T12:30:60Z',
    '2026-03-01T12Z',
    '2026-03-01T',
    '2026-03-01Z',
    '2026-03-01T12:30:45.Z',
    '2026-03-01T12:30:45+25:00',
    '2026-03-01T12:30:45+05',
    '2026-03-01T12:30:45 Z',
    ' 2026-03-01',
    '2026-03-01\n',
    '01.03.2026',
    'Sun, 01 Mar 2026 12:30:45 GMT',
    '+012026-03-01',
    '-000001-03-01',
    'noon',
    '٢٠٢٦-٠٣-٠١',
    '9999-12-31T23:59:59-01:00',
    '0000-01-01T00:00:00+01:00',
  ])('%j is none', (text) => {
    expect(parseIsoDate(text)).toBeUndefined();
    expect(() => toTimestamp(text)).toThrow(RangeError);
  });

  it('is the time that it was made of', () => {
    const time = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(time, fc.integer({ min: -14 * 60, max: 14 * 60 }), (date, minutes) => {
        expect(parseIsoDate(date.toISOString())).toBe(date.getTime());
        const shifted = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1);
        const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
        const offset = `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
        if (shifted.length === 23) expect(parseIsoDate(`${shifted}${offset}`)).toBe(date.getTime());
      }),
    );
  });
});
