/** Uses the new checkout if the flag `checkout` is on for the user. */
function chooseCheckout(flags, userId) {
  return flags.isEnabled('checkout', { userId }) ? 'new' : 'old';
}

/** The page of a user. `banner` has variants with a color. */
async function renderPage(flags, userId) {
  const checkout = chooseCheckout(flags, userId);
  const color = flags.getPayload('banner', { userId })?.color ?? 'grey';
  return `${checkout} checkout, ${color} banner`;
}

module.exports = { chooseCheckout, renderPage };
