import type { JsonPatchOperation } from '../../src/index.js';
import { onEveryStorage } from './on-every-storage.js';
import { DEFAULT } from './references.js';

const ref = { ...DEFAULT, flag: 'checkout' };
const environment = { ...ref, environment: 'production' };

onEveryStorage((start) => {
  it('carries out a patch as it was given, whatever the caller does to it afterwards', async () => {
    const flags = await start();
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    const { id } = await flags.addStrategy(environment, { name: 'default' });
    const ofFlag: JsonPatchOperation[] = [{ op: 'replace', path: '/description', value: 'new' }];
    const ofStrategy: JsonPatchOperation[] = [{ op: 'add', path: '/title', value: 'all' }];
    const ofVariants: JsonPatchOperation[] = [{ op: 'add', path: '/-', value: { name: 'blue' } }];
    const patching = Promise.all([
      flags.patchFlag(ref, ofFlag),
      flags.patchStrategy({ ...environment, strategy: id }, ofStrategy),
      flags.patchVariants(ref, ofVariants),
    ]);
    for (const patch of [ofFlag, ofStrategy, ofVariants]) patch.length = 0;
    expect(await patching).toMatchObject([{ description: 'new' }, { title: 'all' }, [{ name: 'blue' }]]);
  });
});
