import { createValidators } from '../../src/input-schemas.js';
import { createSettings } from '../../src/options.js';

/** The validators of an instance without configuration. */
export const validate = createValidators(createSettings({}));
