import { createSettings } from '../../src/settings.js';
import { createValidators } from '../../src/validation/validators.js';

/** The validators of an instance that was configured with nothing. */
export const validate = createValidators(createSettings({}));
