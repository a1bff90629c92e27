const { testFlags } = require('@flags/core/testing');
const { chooseCheckout, renderPage } = require('../checkout.js');

const red = { variant: 'red', payload: { color: '#f00' } };

test('sells by the new checkout where the flag is on', async () => {
  const flags = testFlags({ checkout: true, banner: red });
  expect(await renderPage(flags, '7')).toBe('new checkout, #f00 banner');
});

test('sells by the old checkout where the flag is off', () => {
  expect(chooseCheckout(testFlags({ checkout: false }), '7')).toBe('old');
});

test('fails for a misspelt flag', () => {
  expect(() => chooseCheckout(testFlags({ chekout: true }), '7')).toThrow('did you mean chekout?');
});

describe('with flags that all tests share', () => {
  const flags = testFlags({ checkout: true, banner: red });

  test('overrides a flag within a function', async () => {
    await flags.override({ checkout: false }, async () => {
      expect(await renderPage(flags, '7')).toBe('old checkout, #f00 banner');
    });
    expect(await renderPage(flags, '7')).toBe('new checkout, #f00 banner');
  });

  test('renders a page for every combination', async () => {
    await flags.vary(['checkout', 'banner'], async ({ checkout }) => {
      expect(await renderPage(flags, '7')).toMatch(checkout ? /^new/ : /^old/);
    });
  });

  test('changes a fork only', async () => {
    const fork = flags.fork();
    await fork.disable({ project: 'default', flag: 'checkout', environment: 'production' });
    expect([chooseCheckout(fork, '7'), chooseCheckout(flags, '7')]).toEqual(['old', 'new']);
  });
});
