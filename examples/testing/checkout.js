/** Sells by the new checkout where the flag `checkout` is on in production. */
async function chooseCheckout(flags) {
  const { environments } = await flags.getFlag({ project: 'default', flag: 'checkout' });
  return environments.some(({ name, enabled }) => name === 'production' && enabled) ? 'new' : 'old';
}

module.exports = { chooseCheckout };
