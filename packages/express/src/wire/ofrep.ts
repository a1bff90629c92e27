import {
  type FlagResolution,
  type JsonSchema,
  type OpenFeatureContext,
  type PayloadValue,
  payloadValue,
  type ResolutionMetadata,
  type ResolutionReason,
  type TokenKind,
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
  readonly metadata?: ResolutionMetadata;
}

/**
 * The protocol's requests name no type: the value is what the variant's payload holds, and where there is none, or it
 * holds none, whether the flag is on.
 *
 * @param tokenKind a frontend token is public: of a flag that is off, it learns that and nothing more. The flag is not left
 * out, as clients would take their own default for a missing flag
 */
export function resolutionToOfrep(resolution: FlagResolution, tokenKind: TokenKind | undefined): OfrepEvaluation {
  const { flag, enabled, reason, variant, metadata } = resolution;
  if (tokenKind === 'frontend' && !enabled) return { key: flag, value: false, reason };
  const value = (variant?.payload && payloadValue(variant.payload)) ?? enabled;
  return { key: flag, value, reason, ...(variant && { variant: variant.name }), metadata };
}
