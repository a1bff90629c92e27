import type { EvaluatedFlag, EvaluatedVariant } from '@flags/core';

/** Browser SDKs take every flag that is not listed for off. */
export function frontendTogglesToWire(flags: readonly EvaluatedFlag[]) {
  return { toggles: flags.filter(({ enabled }) => enabled).map(frontendToggleToWire) };
}

function frontendToggleToWire({ name, enabled, variant, impressionData }: EvaluatedFlag) {
  return { name, enabled, variant: evaluatedVariantToWire(variant), impressionData };
}

/** Older SDKs read `feature_enabled`, newer ones `featureEnabled`. */
export function evaluatedVariantToWire({ name, enabled, feature_enabled, payload }: EvaluatedVariant) {
  return { name, enabled, feature_enabled, featureEnabled: feature_enabled, ...(payload && { payload }) };
}
