import type { FlagDefinition, SegmentDefinition } from '../../src/evaluation/definitions.types.js';
import type { EvaluatedVariant, EvaluationContext } from '../../src/evaluation/evaluation.types.js';

interface UnleashClient {
  isEnabled(name: string, context: EvaluationContext, fallback: () => boolean): boolean;
  getVariant(
    name: string,
    context: EvaluationContext,
    fallback?: object,
  ): Omit<EvaluatedVariant, 'flagEnabled'> & { feature_enabled: boolean; featureEnabled?: boolean };
}

interface Repository {
  getToggle(name: string): object | undefined;
  getSegment(id: number): SegmentDefinition | undefined;
}

// The evaluating part of the SDK's `Unleash`, without the parts that fetch and report.
const { default: Client } = require('unleash-client/lib/client') as {
  default: new (repository: Repository, strategies: readonly object[]) => UnleashClient;
};
const { defaultStrategies } = require('unleash-client/lib/strategy') as { defaultStrategies: readonly object[] };

function toToggle(flag: FlagDefinition): object {
  const { dependencies } = flag;
  return dependencies
    ? { ...flag, dependencies: dependencies.map(({ flag: feature, ...rest }) => ({ feature, ...rest })) }
    : flag;
}

/** The evaluation of the real Node SDK over documents in memory. */
export function unleashReference(flags: readonly FlagDefinition[], segments: readonly SegmentDefinition[] = []) {
  const toggles = new Map(flags.map((flag) => [flag.name, toToggle(flag)]));
  const known = new Map(segments.map((segment) => [segment.id, segment]));
  const client = new Client(
    { getToggle: (name) => toggles.get(name), getSegment: (id) => known.get(id) },
    defaultStrategies,
  );
  return {
    isEnabled: (name: string, context: EvaluationContext) => client.isEnabled(name, context, () => false),
    getVariant: (name: string, context: EvaluationContext, fallback?: object): EvaluatedVariant => {
      const {
        featureEnabled: _,
        feature_enabled: flagEnabled,
        ...variant
      } = client.getVariant(name, context, fallback);
      return { ...variant, flagEnabled };
    },
  };
}
