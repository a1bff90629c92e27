import { createValidators } from '../../src/input-schemas.js';
import { createSettings } from '../../src/options.js';

/** The validators of an instance that was configured with nothing. */
export const validate = createValidators(createSettings({}));
