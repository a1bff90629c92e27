import { assertDocumentSize } from '../../src/changesets/size-limits.js';
import type { Constraint, Flags } from '../../src/index.js';
import { onEveryStorage } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from './references.js';
import { expectRefusal, refusalOf } from './refusal.js';

const MIB = 1_048_576;
const LONG = 'x'.repeat(500_000);

/** Constraints of about so many bytes. */
function constraintsOf(bytes: number): readonly Constraint[] {
  const values = Array.from({ length: bytes / 10_000 }, (_, n) => `${n}`.padEnd(9990, '-'));
  return [{ contextName: 'userId', operator: 'IN', values }];
}

async function withCheckout(flags: Flags): Promise<Flags> {
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  await flags.addStrategy(PRODUCTION, { name: 'default', parameters: { a: LONG, b: LONG } });
  return flags;
}

onEveryStorage((start) => {
  describe('a document', () => {
    it('is at most 1 MiB, and everything that would make it larger is refused', async () => {
      const flags = await withCheckout(await start());
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
      const strategy = { ...PRODUCTION, strategy: id };
      const large = { name: 'default', parameters: { a: 'x'.repeat(60_000) } };
      const payload = { type: 'string', value: 'x'.repeat(60_000) } as const;
      const attempts = [
        () => flags.addStrategy(PRODUCTION, large),
        () => flags.updateStrategy(strategy, large),
        () => flags.patchStrategy(strategy, [{ op: 'add', path: '/parameters', value: large.parameters }]),
        () => flags.setVariants(CHECKOUT, [{ name: 'a', payload }]),
        () => flags.updateFlag(CHECKOUT, { description: '\u0001'.repeat(9000) }),
        () => flags.createSegment({ name: 'large', constraints: constraintsOf(1.1 * MIB) }),
      ];
      for (const attempt of attempts) {
        const { message } = await expectRefusal(flags, 'document_too_large', attempt);
        expect(message).toMatch(/would take \d+ bytes, and a document may take 1048576; /);
      }
    });

    it('that is full can be switched, archived, revived and deleted', async () => {
      const flags = await withCheckout(await start());
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
      const fill = (length: number) =>
        flags.updateStrategy({ ...PRODUCTION, strategy: id }, { name: 'd', parameters: { a: 'x'.repeat(length) } });
      const { message } = await refusalOf(fill(100_000));
      const full = 100_000 - (Number(/take (\d+) bytes/.exec(message)?.[1]) - MIB);
      await fill(full);
      expect((await refusalOf(fill(full + 1))).code).toBe('document_too_large');
      await flags.enable(PRODUCTION);
      await flags.disable(PRODUCTION);
      await flags.updateFlag(CHECKOUT, { stale: true });
      await flags.updateFlag(CHECKOUT, { stale: false });
      await flags.archiveFlag(CHECKOUT);
      await flags.reviveFlag({ flag: 'checkout' });
      await flags.archiveFlag(CHECKOUT);
      await flags.deleteFlag({ flag: 'checkout' });
    });
  });
});

describe('the document of all names of segments', () => {
  it('has an advice of its own when it is full', () => {
    const [key, text] = [{ kind: 'segment-registry', id: 'all' }, JSON.stringify('x'.repeat(MIB))];
    const write = { key, expected: 0, parent: null, body: null, text, summary: null };
    const change = { write, events: [], found: undefined, next: null, path: undefined };
    expect(() => assertDocumentSize(change)).toThrow('delete segments, or choose shorter names');
  });
});
