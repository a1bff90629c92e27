import { toEvaluationContext } from '../../src/openfeature/values.js';

const DAY = new Date('2026-03-01T12:00:00.000Z');

describe('the context of OpenFeature', () => {
  it('has its targeting key as the user', () => {
    expect(toEvaluationContext({ targetingKey: '7' })).toMatchObject({ userId: '7', properties: {} });
  });

  it('prefers the user that it names', () => {
    expect(toEvaluationContext({ targetingKey: 'device', userId: 7 })).toMatchObject({ userId: 7 });
  });

  it('keeps the standard context fields, and has the rest as properties', () => {
    const known = {
      userId: '7',
      sessionId: 's',
      remoteAddress: '::1',
      environment: 'e',
      appName: 'web',
      currentTime: DAY,
    };
    const context = toEvaluationContext({
      ...known,
      plan: 'pro',
      seats: 5,
      properties: { region: 'eu', plan: 'free' },
    });
    expect(context).toEqual({ ...known, properties: { plan: 'free', seats: 5, region: 'eu' } });
  });

  it('has dates among the properties as ISO 8601', () => {
    const { properties } = toEvaluationContext({ since: DAY, never: new Date(Number.NaN), properties: { until: DAY } });
    expect(properties).toEqual({ since: DAY.toISOString(), never: undefined, until: DAY.toISOString() });
  });

  it.each([
    ['a text', '2026-03-01', '2026-03-01'],
    ['milliseconds', DAY.getTime(), DAY],
    ['an object', { valueOf: 'x' }, undefined],
    ['a list', [1], undefined],
    ['null', null, undefined],
  ])('takes %s for the time', (_, currentTime, expected) => {
    expect(toEvaluationContext({ currentTime }).currentTime).toEqual(expected);
  });

  it.each([[null], ['text'], [[1, 2]], [DAY]])('takes %j for no properties', (properties) => {
    expect(toEvaluationContext({ properties }).properties).toEqual({});
  });

  it('keeps properties called __proto__ and constructor as properties', () => {
    const { properties } = toEvaluationContext(JSON.parse('{"__proto__":"p","constructor":"c"}'));
    expect(Object.entries(properties ?? {})).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
    ]);
  });

  it.each(['its own', 'those of properties'])('has the same properties, read late, when %s are very many', (where) => {
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`m${at}`, at]));
    const few = {
      targetingKey: '7',
      userId: '8',
      since: DAY,
      plan: 'pro',
      list: [1, [2]],
      properties: { plan: 'free' },
    };
    const own = where === 'its own' ? many : {};
    const nested = where === 'its own' ? {} : many;
    const large = { ...few, ...own, properties: { ...few.properties, ...nested } };
    const { properties, ...members } = toEvaluationContext(large);
    const { properties: copied, ...same } = toEvaluationContext(few);
    expect(members).toEqual(same);
    expect({ ...properties }).toEqual({ ...copied, ...many });
    expect(Object.hasOwn(properties ?? {}, 'userId')).toBe(false);
    expect(Object.hasOwn(properties ?? {}, 'constructor')).toBe(false);
  });
});
