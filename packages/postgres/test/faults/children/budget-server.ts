import { fillStorage, furnish } from '../../../../http/test/budgets/definitions.js';
import { serve } from '../../../../http/test/budgets/served.js';
import { postgresStorage } from '../../../src/index.js';

/** The name of the storage is the address of its database. */
serve((url) => postgresStorage(url), { fill: fillStorage, furnish });
