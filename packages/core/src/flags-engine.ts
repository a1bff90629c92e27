import type { FEATURES } from './features.js';
import type { Validators } from './input-schemas.js';
import type { ChangeEngine, SharedEngine } from './kernel/changes/change-engine.js';
import type { PartsOf } from './kernel/feature.js';

type FeatureParts = PartsOf<typeof FEATURES>;

/** The engine that all actors share: the kernel, with the parts of all features. */
export interface SharedFlagsEngine extends SharedEngine, FeatureParts {
  readonly validate: Validators;
}

/** The engine of an actor, with all features. */
export interface FlagsEngine extends SharedFlagsEngine, ChangeEngine {
  readonly validate: Validators;
}
