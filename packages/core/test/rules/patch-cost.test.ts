import { processorTime } from '../../../../test/processor-time.js';
import { createFlags, type Flags, memoryStorage } from '../../src/index.js';
import { DEFAULT, PRODUCTION } from './references.js';

const many = <T>(length: number, item: T) => Array.from({ length }, () => item);
const LIST = '/constraints/0/values';

/** Constraints of 250,000 values: a document of 1 MiB. */
const CONSTRAINTS = many(5, { contextName: 'userId', operator: 'IN', values: many(49_999, 'a') } as const);

async function withLargeStrategy(): Promise<{ flags: Flags; ref: typeof PRODUCTION & { strategy: string } }> {
  const flags = await createFlags({ storage: memoryStorage() });
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  const { id } = await flags.addStrategy(PRODUCTION, { name: 'default', constraints: CONSTRAINTS });
  return { flags, ref: { ...PRODUCTION, strategy: id } };
}

describe('a patch of a document of 1 MiB', () => {
  it.each<[string, readonly object[]]>([
    ['one small change', [{ op: 'add', path: '/title', value: 'x' }]],
    ['a thousand moves', many(1000, { op: 'move', from: `${LIST}/0`, path: `${LIST}/40000` })],
    ['a thousand insertions', many(1000, { op: 'add', path: `${LIST}/0`, value: 'a' })],
    ['copies of everything', many(1000, { op: 'copy', from: '/constraints', path: '/constraints/-' })],
    ['copies to what is kept', many(1000, { op: 'copy', from: '/constraints', path: '/id' })],
    ['a pointer of a million characters', [{ op: 'test', path: `/title${'/a'.repeat(500_000)}`, value: 1 }]],
  ])('takes a fraction of a second for %s', async (_, patch) => {
    const { flags, ref } = await withLargeStrategy();
    const times: number[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      const start = processorTime();
      await flags.patchStrategy(ref, patch as never).catch(() => undefined);
      times.push(processorTime() - start);
    }
    expect(Math.min(...times)).toBeLessThan(450);
    await flags.close();
  });
});
