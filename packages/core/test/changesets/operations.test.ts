import { createFlags, memoryStorage } from '../../src/index.js';
import { CHECKOUT, DEFAULT } from '../rules/references.js';

describe('the bound operations', () => {
  it('work when they are destructured, for every actor', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    const { isEnabled, createFlag, listEvents } = flags.as('ada');
    await createFlag(DEFAULT, { name: 'checkout' });
    expect(isEnabled('checkout')).toBe(false);
    expect((await listEvents()).events[0]).toMatchObject({ type: 'flag-created', actor: 'ada' });
    await flags.close();
  });

  it('share everything but the changes between actors', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    const asAda = flags.as('ada');
    const shared = Object.entries(flags).filter(([name, member]) => asAda[name as keyof typeof asAda] === member);
    const own = Object.keys(flags).filter((name) => !shared.some(([other]) => other === name));
    expect(shared.map(([name]) => name)).toEqual(expect.arrayContaining(['isEnabled', 'getFlag', 'verifyToken', 'as']));
    expect(own).toEqual(expect.arrayContaining(['createFlag', 'enable', 'deleteToken']));
    expect(own).not.toContain('listFlags');
    await flags.close();
  });

  it('are named in stack traces', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    const error = await flags.getFlag(CHECKOUT).catch((thrown: Error) => thrown);
    expect((error as Error).stack).toMatch(/at (async )?getFlag /);
    await flags.close();
  });
});
