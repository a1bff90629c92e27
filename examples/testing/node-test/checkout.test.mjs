import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { testFlags, vary, withFlags } from '@flags/core/testing';
import { chooseCheckout, renderPage } from '../checkout.js';

const base = testFlags({ checkout: true, banner: { variant: 'red', payload: { color: '#f00' } } });

describe('the checkout', { concurrency: true }, () => {
  test('is new where the flag is on', async () => {
    assert.equal(await renderPage(base, '7'), 'new checkout, #f00 banner');
  });

  test('is old where the flag is off', async () => {
    await withFlags(base, { checkout: false }, async () => {
      assert.equal(await renderPage(base, '7'), 'old checkout, #f00 banner');
    });
  });

  test('is rendered with every combination', async () => {
    await vary(base, ['checkout', 'banner'], async () => assert.match(await renderPage(base, '7'), /checkout/));
  });

  test('fails with the combination that fails', async () => {
    const isNew = async () => assert.equal(chooseCheckout(base, '7'), 'new');
    await assert.rejects(vary(base, ['checkout'], isNew), /1 of 2 combinations failed.\n\{"checkout":false\}/);
  });
});

describe('a switch in the middle', () => {
  let flags;
  beforeEach(() => {
    flags = base.fork();
  });

  test('is seen at once', async () => {
    await flags.disable({ project: 'default', flag: 'checkout', environment: 'production' });
    assert.equal(chooseCheckout(flags, '7'), 'old');
  });

  test('does not reach the other tests', () => assert.equal(chooseCheckout(flags, '7'), 'new'));
});
