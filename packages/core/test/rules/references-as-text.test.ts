import type { Flags } from '../../src/index.js';
import { onEveryStorage } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from './references.js';

const OTHERS: readonly unknown[] = [7, null, {}, [], true, undefined];

type Attempt = (flags: Flags, name: never) => Promise<unknown>;

const BY_NAME: readonly (readonly [string, Attempt])[] = [
  ['getProject', (flags, project) => flags.getProject({ project })],
  ['updateProject', (flags, project) => flags.updateProject({ project }, { name: 'x' })],
  ['deleteProject', (flags, project) => flags.deleteProject({ project })],
  ['getFlag', (flags, flag) => flags.getFlag({ ...DEFAULT, flag })],
  ['updateFlag', (flags, flag) => flags.updateFlag({ ...DEFAULT, flag }, {})],
  ['cloneFlag', (flags, flag) => flags.cloneFlag({ ...DEFAULT, flag }, { name: 'copy' })],
  ['reviveFlag', (flags, flag) => flags.reviveFlag({ flag })],
  ['deleteFlag', (flags, flag) => flags.deleteFlag({ flag })],
  ['deleteToken', (flags, token) => flags.deleteToken({ token })],
  ['getApplication', (flags, application) => flags.getApplication({ application })],
  ['deleteApplication', (flags, application) => flags.deleteApplication({ application })],
];

const HOSTILE: readonly unknown[] = [Symbol('name'), Object.create(null), [Object.create(null)], 1n];

const BESIDE: readonly (readonly [string, Attempt])[] = [
  ['enable', (flags, project) => flags.enable({ project, flag: 'checkout', environment: 'production' })],
  ['disable', (flags, environment) => flags.disable({ ...CHECKOUT, environment })],
  ['removeStrategy', (flags, strategy) => flags.removeStrategy({ ...PRODUCTION, strategy })],
  ['patchStrategy', (flags, strategy) => flags.patchStrategy({ ...PRODUCTION, strategy }, [])],
  ['getSegment', (flags, segment) => flags.getSegment({ segment })],
  ['updateSegment', (flags, segment) => flags.updateSegment({ segment }, {})],
  ['deleteSegment', (flags, segment) => flags.deleteSegment({ segment })],
  ['updateStrategy', (flags, strategy) => flags.updateStrategy({ ...PRODUCTION, strategy }, { name: 'default' })],
];

onEveryStorage((start) => {
  it.each([...BY_NAME, ...BESIDE])('%s refuses a name that cannot even be made text', async (_, attempt) => {
    const flags = await start();
    await flags.createFlag(DEFAULT, { name: CHECKOUT.flag });
    for (const name of HOSTILE) {
      await expect(attempt(flags, name as never)).rejects.toMatchObject({ name: 'FlagsError' });
    }
  });

  it.each(BY_NAME)('%s refuses a name that is not text', async (_, attempt) => {
    const flags = await start();
    await flags.createFlag(DEFAULT, { name: CHECKOUT.flag });
    for (const name of OTHERS) {
      await expect(attempt(flags, name as never)).rejects.toMatchObject({ name: 'FlagsError' });
    }
  });
});
