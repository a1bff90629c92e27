import { createSettings } from '../../src/options.js';
import { createValidators } from '../../src/validators.js';

/** The validators of an instance that was configured with nothing. */
export const validate = createValidators(createSettings({}));
