import { createFlags, memoryStorage } from '../../src/index.js';

const DEFAULT = { project: 'default' };

async function idAt(time: number): Promise<string> {
  const flags = await createFlags({ storage: memoryStorage(), now: () => new Date(time), usageInterval: 0 });
  const { id } = await flags.apply([{ op: 'createFlag', ref: DEFAULT, input: { name: 'checkout' } }]);
  await flags.close();
  return id ?? '';
}

it('gives change sets ids that grow with time: UUIDs of version 7', async () => {
  const time = Date.parse('2026-03-01T12:00:00.000Z');
  const ids = [await idAt(time), await idAt(time + 1), await idAt(time + 2)];
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ids.toSorted()).toEqual(ids);
});

it('gives an id while the clock shows a time before 1970', async () => {
  expect(await idAt(-1)).toMatch(/^00000000-0000-7/);
});
