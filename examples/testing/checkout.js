/** Sells to a user by the new checkout where the flag `checkout` is on for that user. */
function chooseCheckout(flags, userId) {
  return flags.isEnabled('checkout', { userId }) ? 'new' : 'old';
}

module.exports = { chooseCheckout };
