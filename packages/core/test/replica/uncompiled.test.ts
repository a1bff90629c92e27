import type { FlagState } from '../../src/flags/flag.js';
import { createFlags, type Flags, memoryStorage } from '../../src/index.js';
import { createEnvironmentView } from '../../src/replica/environment-view.js';

let flags: Flags;

afterEach(() => flags.close());

describe('a changed flag', () => {
  it('is compiled only if it was compiled before', async () => {
    const storage = memoryStorage();
    flags = await createFlags({ storage });
    const states = new Map<string, FlagState>();
    const view = createEnvironmentView(
      'production',
      { flags: states, segments: new Map() },
      { now: Date.now, onImpression: () => undefined },
    );
    const change = async (description: string) => {
      await flags.updateFlag({ project: 'default', flag: 'checkout' }, { description });
      const stored = await storage.get({ kind: 'flag', id: 'checkout' });
      states.set('checkout', stored?.body as FlagState);
      view.update({ flag: 'checkout' });
      return view.snapshot.isCompiled('checkout');
    };
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    expect([await change('one'), await change('two')]).toEqual([false, false]);
    expect(view.snapshot.isEnabled('checkout')).toBe(false);
    expect([await change('three'), view.snapshot.definition('checkout')]).toMatchObject([
      true,
      { description: 'three' },
    ]);
  });
});
