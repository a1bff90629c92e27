import { createFlags, type Flags, memoryStorage } from '../../src/index.js';
import type { Storage } from '../../src/storage/port.js';
import { PRODUCTION } from '../rules/references.js';
import { SILENT } from './silent.js';

const COUNT = 10_000;
const CHANGED = 'flag-05000';

function flagBody(name: string) {
  const strategies = [{ id: `${name}-1`, name: 'default', parameters: {}, constraints: [] }];
  return {
    ...{ name, project: 'default', description: '', type: 'release', impressionData: false, stale: false },
    ...{ archived: false, createdAt: '2026-01-01T00:00:00.000Z', variants: [] },
    environments: [{ name: 'production', enabled: true, strategies }],
  };
}

/** A storage with very many flags, written at once. */
async function filledStorage(): Promise<Storage> {
  const storage = memoryStorage();
  const names = Array.from({ length: COUNT }, (_, at) => `flag-${String(at).padStart(5, '0')}`);
  const writes = names.map((name) => {
    const body = flagBody(name);
    const summary = { type: body.type, stale: false, archived: false, createdAt: body.createdAt, enabledIn: [] };
    return { key: { kind: 'flag', id: name }, expected: 0, parent: 'default', body, summary };
  });
  await storage.commit({ writes, events: [] });
  return storage;
}

function definitionsOf(flags: Flags) {
  return new Map(flags.configuration().flags.map((flag) => [flag.name, flag]));
}

describe('ten thousand flags', () => {
  let flags: Flags;

  beforeAll(async () => {
    flags = await createFlags({ ...SILENT, storage: await filledStorage() });
  });

  afterAll(() => flags.close());

  it('are all known as soon as the instance is open', () => {
    expect(
      flags
        .forContext({})
        .evaluateAll()
        .filter(({ enabled }) => enabled),
    ).toHaveLength(COUNT);
  });

  it('keep all definitions but the one of the flag that changes', async () => {
    const before = definitionsOf(flags);
    await flags.disable({ ...PRODUCTION, flag: CHANGED });
    const after = definitionsOf(flags);
    const changed = [...after].filter(([name, flag]) => before.get(name) !== flag).map(([name]) => name);
    expect(changed).toEqual([CHANGED]);
    expect([flags.isEnabled(CHANGED), flags.isEnabled('flag-04999')]).toEqual([false, true]);
  });

  it('are in name order in every environment, with the changes made meanwhile', async () => {
    const environment = 'development';
    const [first, last] = ['flag-00001', 'flag-09999'];
    expect(flags.configuration({ environment }).flags).toHaveLength(COUNT);
    await flags.archiveFlag({ project: 'default', flag: first });
    await flags.updateFlag({ project: 'default', flag: last }, { description: 'changed' });
    const loaded = await flags.loadConfiguration({ environment });
    expect(loaded).toBe(flags.configuration({ environment }));
    const names = loaded.flags.map(({ name }) => name);
    expect([names.length, names]).toEqual([COUNT - 1, names.toSorted()]);
    expect(loaded.flags.at(-1)).toMatchObject({ name: last, description: 'changed' });
    expect(loaded.flags.every((flag) => Object.isFrozen(flag.strategies))).toBe(true);
  });
});
