import {
  type FlagResolution,
  type JsonSchema,
  type OpenFeatureContext,
  type PayloadValue,
  payloadValue,
  type ResolutionMetadata,
  type ResolutionReason,
} from '@flags/core';

/** What the OpenFeature Remote Evaluation Protocol asks with. */
export interface OfrepRequest {
  readonly context?: OpenFeatureContext;
}

export const ofrepRequestSchema: JsonSchema = {
  type: 'object',
  properties: { context: { type: 'object', description: 'targetingKey, and whatever else strategies ask for.' } },
};

/** A flag's answer in the words of the protocol. */
export interface OfrepEvaluation {
  readonly key: string;
  readonly value: PayloadValue;
  readonly reason: ResolutionReason;
  readonly variant?: string;
  readonly metadata: ResolutionMetadata;
}

/**
 * The protocol's requests name no type: the value is what the variant's payload holds, and where there is none, or it
 * holds none, whether the flag is on.
 */
export function resolutionToOfrep({ flag, enabled, reason, variant, metadata }: FlagResolution): OfrepEvaluation {
  const value = (variant?.payload && payloadValue(variant.payload)) ?? enabled;
  return { key: flag, value, reason, ...(variant && { variant: variant.name }), metadata };
}
