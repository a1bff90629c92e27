import { type EvaluationContext, OpenFeature } from '@openfeature/server-sdk';
import { type Host, startHost, stopHosts, switchOn } from './host.js';

const constrained = (contextName: string, ...values: readonly string[]) => ({
  name: 'default',
  constraints: [{ contextName, operator: 'IN' as const, values }],
});

describe('the context', () => {
  let host: Host;

  beforeEach(async () => {
    host = await startHost();
  });

  afterEach(stopHosts);

  it.each([
    ['the targeting key, as the user', 'userId', 'ada', { targetingKey: 'ada' }],
    ['the user, before the targeting key', 'userId', 'ada', { targetingKey: 'device', userId: 'ada' }],
    ['a number, as its text', 'sessionId', '7', { sessionId: 7 }],
    ['a property', 'plan', 'pro', { plan: 'pro' }],
    ['a boolean property', 'staff', 'true', { staff: true }],
    ['a date, as ISO 8601', 'since', '2026-03-01T12:00:00.000Z', { since: new Date('2026-03-01T12:00:00Z') }],
    ['properties of its own', 'plan', 'pro', { properties: { plan: 'pro' } }],
  ])('holds %s', async (_, field, value, context) => {
    await switchOn(host.flags, { name: 'checkout', strategy: constrained(field, value) });
    expect(await host.client.getBooleanValue('checkout', false, context as EvaluationContext)).toBe(true);
    expect(await host.client.getBooleanValue('checkout', true, { targetingKey: 'someone else' })).toBe(false);
  });

  it('is merged from those of the application, the client and the call', async () => {
    const constraints = ['region', 'plan', 'userId'].flatMap((field) => constrained(field, 'right').constraints);
    await switchOn(host.flags, { name: 'checkout', strategy: { name: 'default', constraints } });
    OpenFeature.setContext({ region: 'right', plan: 'wrong', targetingKey: 'wrong' });
    host.client.setContext({ plan: 'right', targetingKey: 'wrong' });
    expect(await host.client.getBooleanValue('checkout', false, { targetingKey: 'right' })).toBe(true);
    expect(await host.client.getBooleanValue('checkout', true)).toBe(false);
  });

  it('may hold anything', async () => {
    const { flags, client } = host;
    await switchOn(flags, { name: 'checkout', strategy: constrained('nested', 'x') });
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const unreadable = {
      toString: () => {
        throw new Error('unreadable');
      },
    };
    for (const nested of [
      cyclic,
      [cyclic],
      unreadable,
      Symbol('x'),
      1n,
      null,
      new Date(Number.NaN),
      Object.create(null),
    ]) {
      const context = { targetingKey: nested, nested, currentTime: nested, properties: nested };
      const details = await client.getBooleanDetails('checkout', true, context as unknown as EvaluationContext);
      expect(details).toMatchObject({ value: false, reason: 'DEFAULT' });
      expect(await client.getStringValue('checkout', 'mine', context as unknown as EvaluationContext)).toBe('mine');
    }
  });
});
