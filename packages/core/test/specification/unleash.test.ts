import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import type { VariantDefinition } from '../../src/evaluation/definitions.types.js';
import { patterns } from '../../src/evaluation/re2.js';
import { compileSnapshot } from '../../src/evaluation/snapshot.js';
import { type EvaluatedVariant, type Flags, memoryStorage, openFlags } from '../../src/index.js';
import { arbitraryContext, arbitraryFlags, arbitrarySegments, FLAG_NAMES } from '../evaluation/arbitrary-documents.js';
import { type CreatedDocument, createDocument } from './create-document.js';
import { DEVIATIONS, DRAWN_OF_1000 } from './deviations.js';
import { readSpecifications, type Specification, type SpecificationCase } from './documents.js';

describe('random documents and contexts, against the Node SDK of Unleash', () => {
  const HOSTNAME = 'Host-A';

  const hostname = process.env.HOSTNAME;
  // The SDK reads it when it is loaded.
  process.env.HOSTNAME = HOSTNAME;
  const { unleashReference } =
    require('../evaluation/unleash-reference.js') as typeof import('../evaluation/unleash-reference.js');

  afterAll(() => {
    if (hostname === undefined) delete process.env.HOSTNAME;
    else process.env.HOSTNAME = hostname;
  });

  it('have the same flags and variants', () => {
    const document = fc.record({ flags: arbitraryFlags, segments: arbitrarySegments });
    const contexts = fc.array(arbitraryContext, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(document, contexts, ({ flags, segments }, users) => {
        const snapshot = compileSnapshot({
          flags,
          segments,
          now: Date.now,
          hostname: HOSTNAME,
          patterns: () => patterns,
        });
        const reference = unleashReference(flags, segments);
        for (const context of users) {
          for (const name of FLAG_NAMES) {
            expect([name, snapshot.isEnabled(name, context)]).toEqual([name, reference.isEnabled(name, context)]);
            expect([name, snapshot.getVariant(name, context)]).toEqual([name, reference.getVariant(name, context)]);
          }
        }
      }),
      { numRuns: extent({ short: 150, full: 5_000 }) },
    );
  });
});

describe('the public client specification, each document created by the administration', () => {
  /** Returns the expected variant of a case, or the variant that weights of 1000 draw instead. */
  function expectedOf(document: Specification, one: SpecificationCase<EvaluatedVariant>): EvaluatedVariant {
    const drawn = DRAWN_OF_1000.get(one.description);
    if (drawn === undefined) return one.expectedResult;
    const { name, payload } = variantsOf(document, one.toggleName).find((variant) => variant.name === drawn) ?? {};
    return { ...one.expectedResult, ...(name && { name }), ...(payload && { payload }) };
  }

  function variantsOf({ state }: Specification, flag: string): readonly VariantDefinition[] {
    const features = 'features' in state ? state.features : [];
    return features.find(({ name }) => name === flag)?.variants ?? [];
  }

  const specifications = readSpecifications();
  let asExpected = 0;
  let redrawn = 0;

  describe.each(specifications)('$name', (document) => {
    let flags: Flags;
    let created: CreatedDocument;

    beforeAll(async () => {
      flags = await openFlags({
        storage: memoryStorage(),
        ...{ pollInterval: 0, usage: { interval: 0 }, onProblem: () => undefined },
      });
      created = await createDocument(flags, document);
    });

    afterAll(() => flags.close());

    it('is created with only the listed deviations', () => {
      expect(created.deviations).toEqual(DEVIATIONS.get(document.name) ?? []);
    });

    for (const [at, { description, toggleName, context, expectedResult }] of (document.tests ?? []).entries()) {
      it(`matches case ${at}: ${description}`, () => {
        expect(flags.isEnabled(created.nameOf(toggleName), context)).toBe(expectedResult);
        asExpected++;
      });
    }

    for (const [at, one] of (document.variantTests ?? []).entries()) {
      it(`matches variant case ${at}: ${one.description}`, () => {
        const variant = flags.getVariant(created.nameOf(one.toggleName), one.context);
        expect(variant).toEqual(expectedOf(document, one));
        if (variant.name === one.expectedResult.name) asExpected++;
        else redrawn++;
      });
    }
  });

  it('was run completely: 272 of 279 cases as expected, 7 with other weights', () => {
    expect(specifications).toHaveLength(22);
    expect([asExpected, redrawn]).toEqual([272, 7]);
    expect(DRAWN_OF_1000.size).toBe(7);
  });
});
