import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FlagDefinition, SegmentDefinition } from '../../src/evaluation/definitions.types.js';
import type { EvaluatedVariant, EvaluationContext } from '../../src/evaluation/evaluated.types.js';
import { compileSnapshot, type Snapshot } from '../../src/evaluation/snapshot.js';

interface SpecificationCase<Result> {
  readonly description: string;
  readonly context: EvaluationContext;
  readonly toggleName: string;
  readonly expectedResult: Result;
}

interface FullState {
  readonly features: FlagDefinition[];
  readonly segments?: SegmentDefinition[];
}

type DeltaEvent =
  | { readonly type: 'hydration'; readonly features: FlagDefinition[]; readonly segments: SegmentDefinition[] }
  | { readonly type: 'feature-updated'; readonly feature: FlagDefinition }
  | { readonly type: 'feature-removed'; readonly featureName: string }
  | { readonly type: 'segment-updated'; readonly segment: SegmentDefinition }
  | { readonly type: 'segment-removed'; readonly segmentId: number };

interface Specification {
  readonly name: string;
  readonly state: FullState | { readonly events: DeltaEvent[] };
  readonly tests?: SpecificationCase<boolean>[];
  readonly variantTests?: SpecificationCase<EvaluatedVariant>[];
}

// The package's own entry point needs packages that it does not declare: its files are read instead.
const folder = join(dirname(require.resolve('@unleash/client-specification/package.json')), 'specifications');
const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
const specifications = (read('index.json') as string[]).map((file) => read(file) as Specification);

function snapshotOf(state: Specification['state']): Snapshot {
  if (!('events' in state)) {
    return compileSnapshot({ flags: state.features, segments: state.segments ?? [], now: Date.now });
  }
  return state.events.reduce(afterEvent, compileSnapshot({ flags: [], now: Date.now }));
}

function afterEvent(snapshot: Snapshot, event: DeltaEvent): Snapshot {
  switch (event.type) {
    case 'hydration':
      return snapshot.with({ flags: event.features, segments: event.segments });
    case 'feature-updated':
      return snapshot.with({ flags: [event.feature] });
    case 'feature-removed':
      return snapshot.with({ removedFlags: [event.featureName] });
    case 'segment-updated':
      return snapshot.with({ segments: [event.segment] });
    case 'segment-removed':
      return snapshot.with({ removedSegments: [event.segmentId] });
  }
}

describe('the public client specification', () => {
  let declared = 0;

  for (const { name, state, tests = [], variantTests = [] } of specifications) {
    describe(name, () => {
      for (const [at, { description, toggleName, context, expectedResult }] of tests.entries()) {
        declared++;
        it(`${at}: ${description}`, () => {
          const snapshot = snapshotOf(state);
          expect(snapshot.isEnabled(toggleName, context)).toBe(expectedResult);
          expect(snapshot.explain(toggleName, context).enabled).toBe(expectedResult);
        });
      }

      for (const [at, { description, toggleName, context, expectedResult }] of variantTests.entries()) {
        declared++;
        it(`variant ${at}: ${description}`, () => {
          const snapshot = snapshotOf(state);
          expect(snapshot.getVariant(toggleName, context)).toEqual(expectedResult);
          expect(snapshot.explain(toggleName, context).variant).toEqual(expectedResult);
        });
      }
    });
  }

  it('is here whole: 279 cases of 22 files', () => {
    expect(specifications).toHaveLength(22);
    expect(declared).toBe(279);
  });
});
