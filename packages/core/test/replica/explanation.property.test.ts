import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { createFlags, type EvaluationContext, type Flags, memoryStorage } from '../../src/index.js';
import { DEFAULT } from '../rules/references.js';
import { someConstraints, someContext, someStrategies, someVariants } from './any-flags.js';
import { SILENT } from './silent.js';
import { createSwitchedOn } from './switched-on.js';

const someFlag = fc.record({ strategies: someStrategies, variants: someVariants, enabled: fc.boolean() });
const someInstance = fc.record({
  parent: someFlag,
  child: someFlag,
  dependency: fc.record({
    enabled: fc.constant(true),
    variants: fc.constantFrom<readonly string[]>([], ['blue', 'red']),
  }),
  segment: someConstraints,
});

type Instance = typeof someInstance extends fc.Arbitrary<infer Value> ? Value : never;

async function openWith({ segment, parent, child, dependency }: Instance): Promise<Flags> {
  const flags = await createFlags({ ...SILENT, storage: memoryStorage() });
  await flags.createSegment({ name: 'first', constraints: segment });
  await flags.createSegment({ name: 'second', constraints: [] });
  for (const [flag, { strategies, variants, enabled }] of Object.entries({ parent, child })) {
    await createSwitchedOn(flags, { flag, strategies });
    await flags.setVariants({ ...DEFAULT, flag }, variants);
    if (!enabled) await flags.disable({ ...DEFAULT, flag, environment: 'production' });
  }
  await flags.addDependency({ ...DEFAULT, flag: 'child' }, { flag: 'parent', ...dependency });
  return flags;
}

function expectAgreement(flags: Flags, flag: string, context: EvaluationContext): void {
  const explanation = flags.explain(flag, context);
  const pinned = flags.forContext(context);
  expect(flags.isEnabled(flag, context)).toBe(explanation.enabled);
  expect(flags.getVariant(flag, context)).toEqual(explanation.variant);
  expect(pinned.isEnabled(flag)).toBe(explanation.enabled);
  expect(pinned.getVariant(flag)).toEqual(explanation.variant);
  const { enabled, variant } = explanation;
  expect(pinned.evaluateAll()).toContainEqual({ name: flag, enabled, variant, impressionData: false });
}

jest.setTimeout(60_000);

describe('an explanation', () => {
  it('agrees with isEnabled, getVariant and evaluateAll, whatever the flag and the context', async () => {
    const reasons = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        someInstance,
        fc.array(someContext, { minLength: 5, maxLength: 5 }),
        async (instance, contexts) => {
          const flags = await openWith(instance);
          for (const context of contexts) {
            for (const flag of ['parent', 'child', 'none']) {
              reasons.add(flags.explain(flag, context).reason);
              if (flag !== 'none') expectAgreement(flags, flag, context);
            }
          }
          await flags.close();
        },
      ),
      { numRuns: extent({ short: 25, full: 80 }) },
    );
    const expected = ['dependency', 'disabled', 'no_strategy_holds', 'strategy', 'unknown_flag'];
    expect([...reasons].sort()).toEqual(expected);
  });
});
