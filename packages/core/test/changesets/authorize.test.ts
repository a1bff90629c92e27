import { createFlags, type Flags, memoryStorage, type PlannedSet } from '../../src/index.js';

const CHECKOUT = { project: 'default', flag: 'checkout' };
const PRODUCTION = { ...CHECKOUT, environment: 'production' };

/** Two instances on one storage. Each decides on its own copies first, and does not poll. */
async function openTwo(): Promise<{ readonly flags: Flags; readonly other: Flags }> {
  const storage = { ...memoryStorage(), watch: () => () => undefined, close: () => undefined };
  const flags = await createFlags({ storage, pollInterval: 0 });
  await flags.createFlag({ project: 'default' }, { name: 'checkout' });
  const other = await createFlags({ storage, pollInterval: 0 });
  return { flags, other };
}

const descriptionsIn = ({ documents }: PlannedSet) =>
  documents.map(({ before }) => (before as { readonly description: string } | null)?.description);

describe('authorize', () => {
  it('gets the documents, the events and their operations, of every way to change', async () => {
    const { flags } = await openTwo();
    const seen: (readonly (string | undefined)[])[] = [];
    const ada = flags.as('ada', {
      authorize: ({ documents }) => void seen.push(documents.flatMap(({ events }) => events.map(({ op }) => op))),
    });
    await ada.addStrategy(PRODUCTION, { name: 'default' });
    const { id } = await ada.apply([
      { op: 'enable', ref: PRODUCTION },
      { op: 'updateFlag', ref: CHECKOUT, input: { stale: true } },
    ]);
    await ada.plan([{ op: 'disable', ref: PRODUCTION }]);
    await ada.preview([{ op: 'disable', ref: PRODUCTION }], { environment: 'production', contexts: [] });
    await ada.undo(`${id}`);
    await ada.importDefinitions({ version: 1, flags: [{ name: 'checkout', description: 'New' }] }, { dryRun: true });
    expect(seen).toEqual([
      ['addStrategy'],
      ['enable', 'updateFlag'],
      ['disable'],
      ['disable'],
      [undefined, undefined],
      [undefined],
      [undefined],
    ]);
  });

  it('is not called if nothing would change', async () => {
    const { flags } = await openTwo();
    const ada = flags.as('ada', { authorize: () => Promise.reject(new Error('asked')) });
    await ada.disable(PRODUCTION);
    expect(await ada.apply([{ op: 'reviveFlag', ref: { flag: 'checkout' } }])).toMatchObject({ id: null });
    expect(await ada.plan([])).toEqual({ documents: [], effects: [] });
    expect(await ada.importDefinitions({ version: 1 })).toMatchObject({ changeSets: [] });
  });

  it('is called again with the present documents, if the first were old', async () => {
    const { flags, other } = await openTwo();
    await other.updateFlag(CHECKOUT, { description: 'by another' });
    const seen: unknown[] = [];
    const ada = flags.as('ada', { authorize: (planned) => void seen.push(...descriptionsIn(planned)) });
    await ada.updateFlag(CHECKOUT, { stale: true });
    expect(seen).toEqual(['', 'by another']);
  });

  it('is called again if a document moves meanwhile, and then decides', async () => {
    const { flags, other } = await openTwo();
    const refusal = new Error('no');
    const ada = flags.as('ada', {
      async authorize(planned) {
        if (descriptionsIn(planned).includes('by another')) throw refusal;
        await other.updateFlag(CHECKOUT, { description: 'by another' });
      },
    });
    await expect(ada.apply([{ op: 'updateFlag', ref: CHECKOUT, input: { stale: true } }])).rejects.toBe(refusal);
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ description: 'by another', stale: false });
  });
});
