import { testFlags, vary, withFlags } from '@flags/core/testing';
import { describe, expect, test } from 'vitest';
import { chooseCheckout, renderPage } from '../checkout.js';

const base = testFlags({ checkout: true, banner: { variant: 'red', payload: { color: '#f00' } } });

// Overrides do not leak into tests that run at the same time.
describe.concurrent('the checkout', () => {
  test('is new where the flag is on', async () => {
    expect(await renderPage(base, '7')).toBe('new checkout, #f00 banner');
  });

  test('is old where the flag is off', async () => {
    await withFlags(base, { checkout: false }, async () => {
      expect(await renderPage(base, '7')).toBe('old checkout, #f00 banner');
    });
  });

  test('is rendered with every combination', async () => {
    await vary(base, ['checkout', 'banner'], async () => {
      expect(await renderPage(base, '7')).toMatch(/checkout/);
    });
  });

  test('can be switched in a fork', async () => {
    const flags = base.fork();
    await flags.disable({ project: 'default', flag: 'checkout', environment: 'production' });
    expect(chooseCheckout(flags, '7')).toBe('old');
  });
});
