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
    ['creation', (flags) => flags.createFlag(DEFAULT, { name: 'payments' })],
    ['clone', (flags) => flags.cloneFlag(ref, { name: 'payments' })],
    ['update', (flags) => flags.updateFlag(ref, { description: 'new' })],
    ['patch', (flags) => flags.patchFlag(ref, [{ op: 'replace', path: '/description', value: 'new' }])],
    ['change of labels', (flags) => flags.changeLabels(ref, { add: ['a'] })],
    ['revival', (flags) => flags.reviveFlag({ flag: 'archived' })],
  ])('a %s of a flag reads no metrics', async (_, attempt) => {
    const { flags, errors, breakMetrics } = await running();
    breakMetrics();
    await attempt(flags);
    expect(errors).toEqual([]);
  });

  it('a deletion remains committed, and the host gets the error', async () => {
    const { flags, errors, breakMetrics } = await running();
    breakMetrics();
    await flags.deleteFlag({ flag: 'archived' });
    expect(errors).toEqual([FAULT]);
    await expect(flags.getFlag({ ...DEFAULT, flag: 'archived' })).rejects.toMatchObject({ code: 'flag_not_found' });
  });

  it('the deletion of a project remains committed, and the host gets the error', async () => {
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
