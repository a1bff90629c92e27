import { createFlags, type EvaluationContext, type Flags, memoryStorage } from '../../src/index.js';

let flags: Flags;

async function open(recentContexts?: number): Promise<void> {
  flags = await createFlags({ storage: memoryStorage(), ...(recentContexts !== undefined && { recentContexts }) });
}
const evaluate = (...contexts: readonly EvaluationContext[]) => {
  for (const context of contexts) flags.isEnabled('checkout', context);
};

afterEach(() => flags.close());

describe('recent contexts', () => {
  it('are not kept without the option', async () => {
    await open();
    evaluate({ userId: '7' });
    expect(flags.recentContexts()).toEqual([]);
  });

  it('are those of every way to evaluate, newest first, each once', async () => {
    await open(10);
    flags.isEnabled('checkout', { userId: '1' });
    flags.getVariant('checkout', { userId: '2' });
    flags.getPayload('checkout', { userId: '3' });
    flags.forContext({ userId: '4' }).isEnabled('checkout');
    flags.as('ada').isEnabled('checkout', { userId: '1' });
    expect(flags.recentContexts()).toEqual([{ userId: '1' }, { userId: '4' }, { userId: '3' }, { userId: '2' }]);
  });

  it('have a limit: the oldest are evicted', async () => {
    await open(2);
    evaluate({ userId: '1' }, { userId: '2' }, { userId: '1' }, { userId: '3' });
    expect(flags.recentContexts()).toEqual([{ userId: '3' }, { userId: '1' }]);
  });

  it('keep fields and properties that a preview accepts, and no time', async () => {
    await open(10);
    evaluate({
      userId: 7,
      sessionId: 's',
      remoteAddress: '10.0.0.1',
      environment: 'blue',
      appName: 'shop',
      currentTime: new Date(),
      properties: { country: 'DE', age: 30, member: true, list: ['a'], none: null, nested: {} },
    });
    expect(flags.recentContexts()).toEqual([
      {
        userId: 7,
        sessionId: 's',
        remoteAddress: '10.0.0.1',
        environment: 'blue',
        appName: 'shop',
        properties: { country: 'DE', age: 30, member: true },
      },
    ]);
  });

  it('are copies', async () => {
    await open(10);
    const context = { userId: '1', properties: { plan: 'free' } };
    evaluate(context);
    context.properties.plan = 'pro';
    expect(flags.recentContexts()).toEqual([{ userId: '1', properties: { plan: 'free' } }]);
  });

  it('omit empty, large or unreadable values, and evaluation does not throw', async () => {
    await open(10);
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`p${index}`, index]));
    const broken = new Proxy({}, { get: () => JSON.parse('no json') });
    evaluate({}, { userId: 'x'.repeat(1_001) }, { userId: '1', properties: many }, broken);
    flags.isEnabled('checkout');
    flags.isEnabled('checkout', null as unknown as EvaluationContext);
    expect(flags.recentContexts()).toEqual([]);
  });

  it('are not those of explanations and previews', async () => {
    await open(10);
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    flags.explain('checkout', { userId: '1' });
    await flags.preview([{ op: 'updateFlag', ref: { project: 'default', flag: 'checkout' }, input: { stale: true } }], {
      environment: 'production',
      contexts: [{ userId: '2' }],
    });
    expect(flags.recentContexts()).toEqual([]);
  });

  it.each([-1, 1.5, 1_001, '10'])('are a number up to 1,000, not %j', async (recentContexts) => {
    await open();
    await expect(
      createFlags({ storage: memoryStorage(), recentContexts: recentContexts as number }),
    ).rejects.toMatchObject({ code: 'invalid_input', details: [{ path: '/recentContexts' }] });
  });
});
