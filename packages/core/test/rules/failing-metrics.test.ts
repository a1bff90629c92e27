import { createFlags, type Flags, memoryMetrics, memoryStorage } from '../../src/index.js';
import { faultyMetrics } from '../../src/testing.js';
import { DEFAULT } from './references.js';

const FAULT = new Error('The metrics cannot be reached.');
const ref = { ...DEFAULT, flag: 'checkout' };

/** An engine whose metrics begin to fail when told to. */
async function running() {
  const errors: unknown[] = [];
  const metrics = faultyMetrics(memoryMetrics());
  const flags = await createFlags({ storage: memoryStorage(), metrics, onError: (error) => errors.push(error) });
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  await flags.createFlag(DEFAULT, { name: 'archived' });
  await flags.archiveFlag({ ...DEFAULT, flag: 'archived' });
  const breakMetrics = () => metrics.inject({ method: ['lastSeen', 'forget'], error: FAULT });
  return { flags, errors, breakMetrics };
}

describe('while metrics fail', () => {
  it.each<[string, (flags: Flags) => Promise<unknown>]>([
    ['creates', (flags) => flags.createFlag(DEFAULT, { name: 'payments' })],
    ['clones', (flags) => flags.cloneFlag(ref, { name: 'payments' })],
    ['updates', (flags) => flags.updateFlag(ref, { description: 'new' })],
    ['patches', (flags) => flags.patchFlag(ref, [{ op: 'replace', path: '/description', value: 'new' }])],
    ['revives', (flags) => flags.reviveFlag({ flag: 'archived' })],
  ])('an operation that %s a flag and cannot tell when it was last seen changes nothing', async (_, attempt) => {
    const { flags, breakMetrics } = await running();
    const { total } = await flags.listEvents();
    breakMetrics();
    await expect(attempt(flags)).rejects.toBe(FAULT);
    expect((await flags.listEvents()).total).toBe(total);
  });

  it('a deletion stands, and the host is told', async () => {
    const { flags, errors, breakMetrics } = await running();
    breakMetrics();
    await flags.deleteFlag({ flag: 'archived' });
    expect(errors).toEqual([FAULT]);
    await expect(flags.getFlag({ ...DEFAULT, flag: 'archived' })).rejects.toMatchObject({ code: 'flag_not_found' });
  });

  it('the deletion of a project stands, and the host is told', async () => {
    const { flags, errors, breakMetrics } = await running();
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await flags.createFlag({ project: 'shop' }, { name: 'old' });
    await flags.archiveFlag({ project: 'shop', flag: 'old' });
    breakMetrics();
    await flags.deleteProject({ project: 'shop' });
    expect(errors).toEqual([FAULT]);
    await expect(flags.getProject({ project: 'shop' })).rejects.toMatchObject({ code: 'project_not_found' });
  });
});
