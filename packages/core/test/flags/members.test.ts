import { FLAG_MEMBER_NAMES, FLAG_MEMBERS, membersOf } from '../../src/features/flags/flag.js';
import { type Flags, memoryStorage, openFlags } from '../../src/index.js';
import type { FlagMembers } from '../../src/types.js';
import { DEFAULT } from '../references.js';

/** A value of each member that a new flag does not have. */
const OTHERS: FlagMembers = {
  description: 'The new checkout',
  type: 'experiment',
  stale: true,
  impressionData: true,
  labels: ['team-shop'],
  owner: 'ada',
};

const CHECKOUT = { ...DEFAULT, flag: 'checkout' };

let flags: Flags;

beforeEach(async () => {
  flags = await openFlags({ storage: memoryStorage() });
  await flags.createFlag(DEFAULT, { name: 'checkout' });
});

afterEach(() => flags.close());

describe.each(FLAG_MEMBER_NAMES)('the member %s of a flag', (name) => {
  const other = { [name]: OTHERS[name] };

  it('has its initial value in a new flag, and in a flag that was stored without it', async () => {
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ [name]: FLAG_MEMBERS[name].initial });
    expect(membersOf({})[name]).toEqual(FLAG_MEMBERS[name].initial);
  });

  it('is changed by an update, shown by the flag, its event and its differences, and undone', async () => {
    await flags.updateFlag(CHECKOUT, other);
    expect(await flags.getFlag(CHECKOUT)).toMatchObject(other);
    const [entry] = (await flags.history.list(CHECKOUT)).items;
    expect(entry?.differences).toMatchObject([{ parts: [{ path: `/${name}`, after: OTHERS[name] }] }]);
    await flags.history.undo({ changeSet: `${entry?.id}` });
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ [name]: FLAG_MEMBERS[name].initial });
  });

  it('is exported, and imported into another instance', async () => {
    await flags.updateFlag(CHECKOUT, other);
    const copy = await openFlags({ storage: memoryStorage() });
    await copy.definitions.import(await flags.definitions.export());
    expect(await copy.getFlag(CHECKOUT)).toMatchObject(other);
    await copy.close();
  });

  it('is found by its text if its row says so', async () => {
    await flags.updateFlag(CHECKOUT, other);
    const { total } = await flags.listFlags({ query: `${[OTHERS[name]].flat()[0]}`.slice(1) });
    expect(total).toBe(FLAG_MEMBERS[name].isSearched ? 1 : 0);
  });
});

it('gives a new flag all members of its input, but for staleness', async () => {
  const { stale: _, ...input } = OTHERS;
  expect(await flags.createFlag(DEFAULT, { name: 'search', ...input })).toMatchObject({ ...input, stale: false });
});
