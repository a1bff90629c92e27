import { type CreatedToken, type Flags, isFlagsError, type NewToken } from '@flags/core';
import { ConfigError } from './config.js';

/** The admin token of the server. */
export interface AdminAccess {
  /** Present only if the token has just been created. */
  readonly secret?: string;
  /** The given token was deleted, and stays deleted. */
  readonly isDeleted?: true;
}

/** Other servers may create tokens with the same name at the same moment. */
const ATTEMPTS = 5;

/**
 * Ensures that an admin token exists: the given one, or one created at the first start. A restart does not restore a
 * deleted token.
 *
 * @throws ConfigError when the given one cannot be an admin token
 */
export async function ensureAdminToken(flags: Flags, given: string | undefined): Promise<AdminAccess> {
  if (given !== undefined) return ensureGivenToken(flags, given);
  if (await hasUsableAdminToken(flags)) return {};
  const { secret } = await createAdmin(flags, { name: 'first admin' });
  return { secret };
}

/** Accepts a stored token unchanged, even if its secret is too short for a new one. */
async function ensureGivenToken(flags: Flags, secret: string): Promise<AdminAccess> {
  const known = await flags.verifyToken(secret);
  if (known?.kind === 'admin') return {};
  if (known !== undefined) throw unusable('It is the secret of a token of another kind.');
  try {
    await createAdmin(flags, { name: 'admin by configuration', secret });
    return {};
  } catch (error) {
    if (!isFlagsError(error)) throw error;
    if (error.code === 'invalid_input') {
      throw unusable('A secret has 32 to 255 printable characters, and no spaces.');
    }
    if (error.code === 'token_deleted') return { isDeleted: true };
    if (error.code !== 'token_exists') throw error;
    return acceptExisting(flags, secret);
  }
}

/** Another server may have created it just now. */
async function acceptExisting(flags: Flags, secret: string): Promise<AdminAccess> {
  if ((await flags.verifyToken(secret))?.kind === 'admin') return {};
  throw unusable('It is the secret of a token that has expired or is of another kind.');
}

/** Uses a name that no other admin token has: the given one, or the given one with a number. */
async function createAdmin(flags: Flags, { name, secret }: Pick<NewToken, 'name' | 'secret'>): Promise<CreatedToken> {
  for (let attempt = 1; ; attempt++) {
    const names = new Set((await flags.tokens.list()).items.map((token) => token.name));
    const free = [name, ...Array.from(names, (_, index) => `${name} ${index + 2}`)].find((one) => !names.has(one));
    try {
      return await flags.tokens.create({ name: free ?? name, kind: 'admin', ...(secret !== undefined && { secret }) });
    } catch (error) {
      if (attempt === ATTEMPTS || !isFlagsError(error) || error.code !== 'token_exists') throw error;
    }
  }
}

async function hasUsableAdminToken(flags: Flags): Promise<boolean> {
  const now = new Date().toISOString();
  const { items: tokens } = await flags.tokens.list();
  return tokens.some(({ kind, expiresAt }) => kind === 'admin' && (expiresAt === null || expiresAt > now));
}

function unusable(reason: string): ConfigError {
  return new ConfigError(
    `FLAGS_ADMIN_TOKEN cannot be used: ${reason} Choose another, or leave it out to have one made at the first start.`,
  );
}
