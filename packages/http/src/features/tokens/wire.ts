import type { CreatedToken, ListedToken } from '@flags/core';
import { tokenToWire } from '@flags/core/integration/http';

/** The id of the person is for comparisons only. */
export function listedTokenToWire({ lastUsedAt, createdBy, ...token }: ListedToken) {
  return { ...tokenToWire({ ...token, createdBy }), lastUsedAt, createdBy: createdBy && { name: createdBy.name } };
}

export function createdTokenToWire({ token, secret }: CreatedToken) {
  return { ...listedTokenToWire({ ...token, lastUsedAt: null }), secret };
}
