import type { CreatedToken, ListedToken } from '@flags/core';
import { tokenToWire } from '@flags/core/integration';

export function listedTokenToWire({ lastUsedAt, ...token }: ListedToken) {
  return { ...tokenToWire(token), lastUsedAt };
}

export function createdTokenToWire({ token, secret }: CreatedToken) {
  return { ...listedTokenToWire({ ...token, lastUsedAt: null }), secret };
}
