import { type Flags, isFlagsError } from '@flags/core';
import { ConfigError } from './config.js';

/** How an administrator gets in. `secret` is there when a token was made just now, and then only. */
export interface AdminAccess {
  readonly secret?: string;
}

/**
 * Sees to it that there is an admin token: the given one, or one made at the first start.
 *
 * @throws ConfigError when the given one cannot be an admin token
 */
export async function ensureAdminToken(flags: Flags, given: string | undefined): Promise<AdminAccess> {
  if (given !== undefined) {
    await ensureGivenToken(flags, given);
    return {};
  }
  if (await hasUsableAdminToken(flags)) return {};
  const { secret } = await flags.createToken({ name: 'first admin', kind: 'admin' });
  return { secret };
}

async function ensureGivenToken(flags: Flags, secret: string): Promise<void> {
  try {
    await flags.createToken({ name: 'admin by configuration', kind: 'admin', secret });
  } catch (error) {
    if (!isFlagsError(error)) throw error;
    if (error.code === 'invalid_input') throw unusable(error.details.map((detail) => detail.message).join(' '));
    if (error.code !== 'token_exists') throw error;
    const known = await flags.verifyToken(secret);
    if (known?.kind !== 'admin') throw unusable('It is the secret of a token that has expired or is of another kind.');
  }
}

async function hasUsableAdminToken(flags: Flags): Promise<boolean> {
  const now = new Date().toISOString();
  const tokens = await flags.listTokens();
  return tokens.some(({ kind, expiresAt }) => kind === 'admin' && (expiresAt === null || expiresAt > now));
}

function unusable(reason: string): ConfigError {
  return new ConfigError(
    `FLAGS_ADMIN_TOKEN cannot be used: ${reason} Choose another, or leave it out to have one made at the first start.`,
  );
}
