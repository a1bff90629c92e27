import type { TokenKind } from '@flags/core';
import type { Access } from '../route.js';

/** Tokens of any of these kinds are let in. */
export function kindsFor(access: Access): readonly TokenKind[] {
  return access === 'ofrep' ? ['client', 'frontend'] : [access];
}
