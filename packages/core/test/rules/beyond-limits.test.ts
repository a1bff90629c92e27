import type { Flags, Storage } from '../../src/index.js';
import { createFlags, memoryStorage } from '../../src/index.js';
import { SILENT } from '../replica/silent.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from './references.js';
import { expectRefusal } from './refusal.js';

const many = <T>(length: number, make: (index: number) => T) => Array.from({ length }, (_, index) => make(index));
const CONSTRAINTS = many(150, () => ({ contextName: 'userId', operator: 'IN', values: ['7'] }) as const);
const STRATEGY = { ...PRODUCTION, strategy: 'strategy-0' };

/** Stores `checkout` and a segment as a release with higher limits could. */
async function startBeyond(): Promise<{ readonly flags: Flags; readonly storage: Storage }> {
  const storage = memoryStorage();
  const keptOpen = Object.assign(Object.create(storage) as Storage, { close: () => undefined });
  const first = await createFlags({ storage: keptOpen, ...SILENT });
  await first.createSegment({ name: 'large', constraints: [CONSTRAINTS[0] ?? never()], description: 'x' });
  await first.createFlag(DEFAULT, { name: 'checkout' });
  await first.setVariants(CHECKOUT, [{ name: 'v' }]);
  await first.addStrategy(PRODUCTION, { name: 'default' });
  await first.enable(PRODUCTION);
  const key = { kind: 'flag', id: 'checkout' };
  const found = (await storage.get(key)) ?? never();
  const listed = (await storage.list({ kind: 'flag', part: 'summary' }))[0]?.content as object;
  const body = found.body as { readonly variants: readonly object[]; readonly environments: readonly object[] };
  const strategies = many(120, (index) => ({
    id: `strategy-${index}`,
    name: 'default',
    title: 't'.repeat(900),
    constraints: index === 0 ? CONSTRAINTS : [],
    parameters: {},
  }));
  const large = {
    ...body,
    description: 'd'.repeat(20_000),
    variants: many(150, (index) => ({ ...body.variants[0], name: `v${index}`, weight: index < 100 ? 7 : 6 })),
    environments: [{ name: 'production', enabled: true, strategies }],
  };
  const segment = { kind: 'segment', id: '1' };
  const stored = (await storage.get(segment)) ?? never();
  await storage.commit({
    writes: [
      { key, expected: found.revision, parent: found.parent, body: large, summary: listed },
      {
        key: segment,
        expected: stored.revision,
        parent: stored.parent,
        body: { ...(stored.body as object), constraints: CONSTRAINTS },
        summary: (await storage.list({ kind: 'segment', part: 'summary' }))[0]?.content as object,
      },
    ],
    events: [
      {
        type: 'variants-updated',
        at: new Date().toISOString(),
        actor: 'ada',
        changeSet: null,
        reason: null,
        subject: key,
        project: 'default',
        environment: null,
        data: { variants: large.variants },
        before: { variants: body.variants },
      },
    ],
  });
  await first.close();
  return { storage, flags: await createFlags({ storage, ...SILENT }) };
}

function never(): never {
  throw new Error('missing');
}

describe('stored data beyond the limits', () => {
  it('evaluates, and can be cloned, archived, revived and exported, and imported as it is', async () => {
    const { flags } = await startBeyond();
    expect(flags.isEnabled('checkout', { userId: '7' })).toBe(true);
    await flags.cloneFlag(CHECKOUT, { name: 'copy' });
    expect((await flags.getFlag({ ...DEFAULT, flag: 'copy' })).variants).toHaveLength(150);
    await flags.archiveFlag(CHECKOUT);
    await flags.reviveFlag(CHECKOUT);
    const exported = await flags.exportDefinitions();
    expect((await flags.importDefinitions(exported)).differences).toEqual([]);
    await flags.close();
  });

  it('keeps its lengths or shrinks in a change, and cannot grow', async () => {
    const { flags } = await startBeyond();
    const { variants, environments } = await flags.getFlag(CHECKOUT);
    const strategies = environments.find(({ name }) => name === 'production')?.strategies ?? [];
    const { id: _id, ...strategy } = strategies[0] ?? never();
    const patch = [{ op: 'replace', path: '/0/name', value: 'renamed' }] as const;
    expect(await flags.patchVariants(CHECKOUT, patch)).toHaveLength(150);
    expect(await flags.setVariants(CHECKOUT, variants.slice(1))).toHaveLength(149);
    await expectRefusal(flags, 'invalid_input', () => flags.setVariants(CHECKOUT, variants));
    await expectRefusal(flags, 'invalid_input', () =>
      flags.patchVariants(CHECKOUT, [{ op: 'add', path: '/-', value: { name: 'more' } }]),
    );
    await flags.updateFlag(CHECKOUT, { description: 'e'.repeat(20_000) });
    await expectRefusal(flags, 'invalid_input', () => flags.updateFlag(CHECKOUT, { description: 'e'.repeat(20_001) }));
    await flags.updateStrategy(STRATEGY, { ...strategy, constraints: CONSTRAINTS.slice(1) });
    await expectRefusal(flags, 'invalid_input', () => flags.updateStrategy(STRATEGY, strategy));
    await flags.patchStrategy(STRATEGY, [{ op: 'remove', path: '/constraints/0' }]);
    await flags.updateSegment({ segment: 1 }, { constraints: CONSTRAINTS.slice(1) });
    await expectRefusal(flags, 'invalid_input', () =>
      flags.updateSegment({ segment: 1 }, { constraints: CONSTRAINTS }),
    );
    await flags.configureEnvironment(PRODUCTION, { enabled: true, strategies: strategies.slice(1) });
    await expectRefusal(flags, 'invalid_input', () =>
      flags.configureEnvironment(PRODUCTION, { enabled: true, strategies }),
    );
    await expectRefusal(flags, 'invalid_input', () => flags.addStrategy(PRODUCTION, { name: 'default' }));
    await flags.close();
  });

  it('comes back by an undo', async () => {
    const { flags } = await startBeyond();
    const { id } = await flags.apply([{ op: 'setVariants', ref: CHECKOUT, input: [{ name: 'only' }] }]);
    await flags.undo(id ?? never());
    expect((await flags.getFlag(CHECKOUT)).variants).toHaveLength(150);
    await flags.close();
  });
});
