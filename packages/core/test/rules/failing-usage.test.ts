import { createFlags, type Flags, memoryStorage, memoryUsage } from '../../src/index.js';
import { faultyUsage } from '../../src/testing.js';
import { DEFAULT } from './references.js';

const FAULT = new Error('The usage cannot be reached.');
const ref = { ...DEFAULT, flag: 'checkout' };

/** An engine whose usage begins to fail when told to. */
async function running() {
  const errors: unknown[] = [];
  const usage = faultyUsage(memoryUsage());
  const flags = await createFlags({ storage: memoryStorage(), usage, onError: (error) => errors.push(error) });
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  await flags.createFlag(DEFAULT, { name: 'archived' });
  await flags.archiveFlag({ ...DEFAULT, flag: 'archived' });
  const breakUsage = () => usage.inject({ method: ['lastSeen', 'forget'], error: FAULT });
  return { flags, errors, breakUsage };
}

describe('while usage fails', () => {
  it.each<[string, (flags: Flags) => Promise<unknown>]>([
    ['creation', (flags) => flags.createFlag(DEFAULT, { name: 'payments' })],
    ['clone', (flags) => flags.cloneFlag(ref, { name: 'payments' })],
    ['update', (flags) => flags.updateFlag(ref, { description: 'new' })],
    ['patch', (flags) => flags.patchFlag(ref, [{ op: 'replace', path: '/description', value: 'new' }])],
    ['change of labels', (flags) => flags.changeLabels(ref, { add: ['a'] })],
    ['revival', (flags) => flags.reviveFlag({ flag: 'archived' })],
  ])('a %s of a flag reads no usage', async (_, attempt) => {
    const { flags, errors, breakUsage } = await running();
    breakUsage();
    await attempt(flags);
    expect(errors).toEqual([]);
  });

  it('a deletion stands, and the host is told', async () => {
    const { flags, errors, breakUsage } = await running();
    breakUsage();
    await flags.deleteFlag({ flag: 'archived' });
    expect(errors).toEqual([FAULT]);
    await expect(flags.getFlag({ ...DEFAULT, flag: 'archived' })).rejects.toMatchObject({ code: 'flag_not_found' });
  });

  it('the deletion of a project stands, and the host is told', async () => {
    const { flags, errors, breakUsage } = await running();
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await flags.createFlag({ project: 'shop' }, { name: 'old' });
    await flags.archiveFlag({ project: 'shop', flag: 'old' });
    breakUsage();
    await flags.deleteProject({ project: 'shop' });
    expect(errors).toEqual([FAULT]);
    await expect(flags.getProject({ project: 'shop' })).rejects.toMatchObject({ code: 'project_not_found' });
  });
});
