import { onEveryStorage } from './on-every-storage.js';
import { DEFAULT } from './references.js';

const NAMES = Array.from({ length: 150 }, (_, number) => `flag-${number}`);

onEveryStorage((start) => {
  it('lets any number of flags begin to use one segment, or to depend on one parent, at once', async () => {
    const flags = await start();
    const { id } = await flags.createSegment({ name: 'beta', constraints: [] });
    await Promise.all(['parent', ...NAMES].map((name) => flags.createFlag(DEFAULT, { name })));
    const refs = NAMES.map((flag) => ({ ...DEFAULT, flag, environment: 'production' }));
    await Promise.all(refs.map((ref) => flags.addStrategy(ref, { name: 'default', segments: [id] })));
    await Promise.all(refs.map((ref) => flags.addDependency(ref, { flag: 'parent' })));
    expect(await flags.listSegmentUses({ segment: id })).toHaveLength(NAMES.length);
    expect((await flags.getFlag({ ...DEFAULT, flag: 'parent' })).children).toHaveLength(NAMES.length);
  });
});
