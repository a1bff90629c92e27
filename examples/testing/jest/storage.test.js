const { openFlags, isFlagsError, memoryStorage } = require('@flags/core');
const { chooseCheckout } = require('../checkout.js');

const production = { project: 'default', flag: 'checkout', environment: 'production' };
let flags;

beforeEach(async () => {
  flags = await openFlags({ storage: memoryStorage() });
  await flags.createFlag({ project: 'default' }, { name: 'checkout' });
});

afterEach(() => flags.close());

test('sells by the old checkout while the flag is off', () => {
  expect(chooseCheckout(flags, '7')).toBe('old');
});

test('sells by the new checkout to those for whom the flag is on', async () => {
  await flags.addStrategy(production, { name: 'userWithId', parameters: { userIds: '7' } });
  await flags.enable(production);
  expect(chooseCheckout(flags, '7')).toBe('new');
  expect(chooseCheckout(flags, '8')).toBe('old');
});

test('creates separate flags for each test', async () => {
  await expect(flags.enable(production)).rejects.toMatchObject({ code: 'environment_has_no_strategies' });
});

test('throws the code of a refused change', async () => {
  const error = await flags.createFlag({ project: 'default' }, { name: 'checkout' }).catch((reason) => reason);
  expect(isFlagsError(error)).toBe(true);
  expect(error.code).toBe('flag_exists');
});
