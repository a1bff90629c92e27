import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FlagDefinition, SegmentDefinition } from '../../src/evaluation/definitions.types.js';
import type { EvaluatedVariant, EvaluationContext } from '../../src/index.js';
import { fromUnleash } from './wire-words.js';

export interface SpecificationCase<Result> {
  readonly description: string;
  readonly context: EvaluationContext;
  readonly toggleName: string;
  readonly expectedResult: Result;
}

export interface SpecificationState {
  readonly features: readonly FlagDefinition[];
  readonly segments?: readonly SegmentDefinition[];
}

export type SpecificationEvent =
  | ({ readonly type: 'hydration' } & SpecificationState)
  | { readonly type: 'feature-updated'; readonly feature: FlagDefinition }
  | { readonly type: 'feature-removed'; readonly featureName: string }
  | { readonly type: 'segment-updated'; readonly segment: SegmentDefinition }
  | { readonly type: 'segment-removed'; readonly segmentId: number };

export interface Specification {
  readonly name: string;
  readonly state: SpecificationState | { readonly events: readonly SpecificationEvent[] };
  readonly tests?: readonly SpecificationCase<boolean>[];
  readonly variantTests?: readonly SpecificationCase<EvaluatedVariant>[];
}

/** The documents of the public client specification. Its package cannot be imported: its files are read. */
export function readSpecifications(): readonly Specification[] {
  const folder = join(dirname(require.resolve('@unleash/client-specification/package.json')), 'specifications');
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'), fromUnleash);
  return (read('index.json') as string[]).map((file) => read(file) as Specification);
}

/** The operations that create the document in an empty instance. */
export function eventsOf({ state }: Specification): readonly SpecificationEvent[] {
  return 'events' in state ? state.events : [{ type: 'hydration', ...state }];
}
