const { createFlags, isFlagsError, memoryStorage } = require('@flags/core');
const { chooseCheckout } = require('./checkout.js');

const production = { project: 'default', flag: 'checkout', environment: 'production' };
let flags;

beforeEach(async () => {
  flags = await createFlags({ storage: memoryStorage() });
  await flags.createFlag({ project: 'default' }, { name: 'checkout' });
});

afterEach(() => flags.close());

test('sells by the old checkout while the flag is off', async () => {
  expect(await chooseCheckout(flags)).toBe('old');
});

test('sells by the new checkout when the flag is on', async () => {
  await flags.addStrategy(production, { name: 'default' });
  await flags.enable(production);
  expect(await chooseCheckout(flags)).toBe('new');
});

test('each test has flags of its own', async () => {
  await expect(flags.enable(production)).rejects.toMatchObject({ code: 'environment_has_no_strategies' });
});

test('a refused change is told by its code', async () => {
  const error = await flags.createFlag({ project: 'default' }, { name: 'checkout' }).catch((reason) => reason);
  expect(isFlagsError(error)).toBe(true);
  expect(error.code).toBe('flag_exists');
});
