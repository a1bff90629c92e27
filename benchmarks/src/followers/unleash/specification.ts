import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** A flag in the words of Unleash. */
export interface SpecifiedFlag {
  readonly name: string;
  readonly enabled: boolean;
  readonly impressionData?: boolean;
  readonly strategies?: readonly SpecifiedStrategy[];
  readonly variants?: readonly object[];
  readonly dependencies?: readonly SpecifiedDependency[];
}

export interface SpecifiedStrategy {
  readonly name: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly constraints?: readonly object[];
  readonly segments?: readonly number[];
  readonly variants?: readonly object[];
}

export interface SpecifiedDependency {
  readonly feature: string;
  readonly enabled?: boolean;
  readonly variants?: readonly string[];
}

export interface SpecifiedSegment {
  readonly id: number;
  readonly constraints: readonly object[];
}

/** Some of its members. A type, because interfaces do not fit the contexts of unleash-client. */
type SpecifiedContext = {
  readonly userId?: string;
  readonly properties?: Record<string, string>;
};

/** A question of the specification, and the answer that it expects. */
export interface SpecifiedCase {
  readonly flag: string;
  readonly context: SpecifiedContext;
  readonly kind: 'switch' | 'variant';
  readonly expected: unknown;
}

/** A file of the client specification, with names that no other file has. */
export interface Specification {
  readonly name: string;
  readonly flags: readonly SpecifiedFlag[];
  readonly segments: readonly SpecifiedSegment[];
  readonly cases: readonly SpecifiedCase[];
}

interface SpecificationFile {
  readonly name: string;
  readonly state: State | { readonly events: readonly Event[] };
  readonly tests?: readonly FileCase[];
  readonly variantTests?: readonly FileCase[];
}

interface State {
  readonly features: readonly SpecifiedFlag[];
  readonly segments?: readonly SpecifiedSegment[];
}

type Event =
  | ({ readonly type: 'hydration' } & State)
  | { readonly type: 'feature-updated'; readonly feature: SpecifiedFlag }
  | { readonly type: 'feature-removed'; readonly featureName: string }
  | { readonly type: 'segment-updated'; readonly segment: SpecifiedSegment }
  | { readonly type: 'segment-removed'; readonly segmentId: number };

interface FileCase {
  readonly toggleName: string;
  readonly context: SpecifiedContext;
  readonly expectedResult: unknown;
}

/** Reads the client specification. All its flags can exist beside each other in one server. */
export function readSpecifications(): readonly Specification[] {
  const { resolve } = createRequire(import.meta.url);
  const folder = join(dirname(resolve('@unleash/client-specification/package.json')), 'specifications');
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const taken = new Set<string>();
  return (read('index.json') as string[]).map((file) => {
    const { name, state, tests = [], variantTests = [] } = read(file) as SpecificationFile;
    const { flags, segments } = finalState('events' in state ? state.events : [{ type: 'hydration', ...state }]);
    const renamed = new Map([...flags.keys()].map((flag) => [flag, taken.has(flag) ? `${flag}.${name}` : flag]));
    for (const flag of flags.keys()) taken.add(flag);
    const nameOf = (flag: string) => renamed.get(flag) ?? flag;
    const caseOf = (kind: SpecifiedCase['kind']) => (given: FileCase) => ({
      flag: nameOf(given.toggleName),
      context: given.context,
      kind,
      expected: given.expectedResult,
    });
    return {
      name,
      flags: [...flags.values()].map((flag) => ({ ...flag, name: nameOf(flag.name) })),
      segments: [...segments.values()],
      cases: [...tests.map(caseOf('switch')), ...variantTests.map(caseOf('variant'))],
    };
  });
}

function finalState(events: readonly Event[]) {
  let flags = new Map<string, SpecifiedFlag>();
  let segments = new Map<number, SpecifiedSegment>();
  for (const event of events) {
    switch (event.type) {
      case 'hydration':
        flags = new Map(event.features.map((flag) => [flag.name, flag]));
        segments = new Map(event.segments?.map((segment) => [segment.id, segment]));
        break;
      case 'feature-updated':
        flags.set(event.feature.name, event.feature);
        break;
      case 'feature-removed':
        flags.delete(event.featureName);
        break;
      case 'segment-updated':
        segments.set(event.segment.id, event.segment);
        break;
      case 'segment-removed':
        segments.delete(event.segmentId);
        break;
    }
  }
  return { flags, segments };
}
