import { SEED } from '../../../test/seed.js';

/**
 * Runs before every test file: properties start with the seed of the run. Loads fast-check for those that use it only.
 */
jest.mock('fast-check', () => {
  const fastCheck = jest.requireActual('fast-check');
  fastCheck.configureGlobal({ ...fastCheck.readConfigureGlobal(), seed: SEED });
  return fastCheck;
});
