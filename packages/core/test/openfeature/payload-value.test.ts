import type { Payload } from '@flags/core';
import { payloadValue } from '@flags/core/integration';

const json = (value: string): Payload => ({ type: 'json', value });

describe('the value of a payload', () => {
  it.each([
    ['string', '7', '7'],
    ['string', '', ''],
    ['csv', 'a,b', 'a,b'],
    ['number', '7', 7],
    ['number', '-1.5e3', -1500],
    ['json', '{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['json', '[1,2]', [1, 2]],
    ['json', '"text"', 'text'],
    ['json', '1.5', 1.5],
    ['json', 'false', false],
  ] as const)('of type %s and text %j is %j', (type, value, expected) => {
    expect(payloadValue({ type, value })).toEqual(expected);
  });

  it.each([
    ['number', 'seven'],
    ['number', ''],
    ['number', '0x10'],
    ['number', '1e999'],
    ['json', '{'],
    ['json', ''],
    ['json', 'null'],
  ] as const)('of type %s and text %j there is none', (type, value) => {
    expect(payloadValue({ type, value })).toBeUndefined();
  });

  it('is the same object for the same payload', () => {
    const payload = json('{"a":1}');
    expect(payloadValue(payload)).toBe(payloadValue(payload));
    expect(payloadValue(payload)).not.toBe(payloadValue(json('{"a":1}')));
  });

  it('cannot be changed, at any depth', () => {
    const value = payloadValue(json('{"a":[{"b":{}}]}')) as { a: { b: object }[] };
    expect([value, value.a, value.a[0], value.a[0]?.b].every((part) => Object.isFrozen(part))).toBe(true);
  });

  it('keeps members called __proto__ and constructor as members', () => {
    const value = payloadValue(json('{"__proto__":{"polluted":true},"constructor":1}'));
    expect(Object.entries(value ?? {})).toEqual([
      ['__proto__', { polluted: true }],
      ['constructor', 1],
    ]);
    expect({}).not.toHaveProperty('polluted');
  });

  it('has up to 100 levels', () => {
    const nested = (levels: number) => json('['.repeat(levels) + ']'.repeat(levels));
    expect(payloadValue(nested(100))).toBeDefined();
    expect(payloadValue(nested(101))).toBeUndefined();
    expect(payloadValue(nested(500_000))).toBeUndefined();
  });
});
