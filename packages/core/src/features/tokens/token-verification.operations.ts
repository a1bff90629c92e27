import { hash, timingSafeEqual } from 'node:crypto';
import { LIMITS } from '../../base/limits.js';
import { pause } from '../../base/paced.js';
import { invalidInput } from '../../base/validator.js';
import type { UnitOfWork } from '../../kernel/engine.js';
import { type Call, call, defineOperations, NO_REFERENCE } from '../../kernel/operation.js';
import type { DocumentReader, Read } from '../../storage/document-reader.js';
import { type IndexDocuments, writeIndexDocuments } from '../../storage/index-writer.js';
import type { FlagsStorage } from '../../storage/port.js';
import { createTicket, readTicket } from './ticket.js';
import type { FindToken, StoredToken, TokenState, TokenUseRecorder, TokenVerifier } from './token.js';
import { tokenDocuments } from './token.kind.js';
import type { Token, VerifiedToken } from './token.types.js';

/*
 * Verifies the secrets and tickets of callers, and records when their tokens are used.
 */

async function verifyToken({ findToken, tokenUse, now }: TokenVerifier, secret: string): Promise<Token | undefined> {
  if (typeof secret !== 'string') return undefined;
  const hash = hashSecret(secret);
  const token = await findToken(idOfHash(hash));
  if (!token || !isSameHash(token.hash, hash) || !isCurrent(token, now())) return undefined;
  tokenUse.record(token.id);
  return toToken(token);
}

/** Returns the ticket of a token, signed with its own key; undefined for a token that has just ended. */
export async function issueTicket({ findToken, now }: TokenVerifier, { id }: Token): Promise<string | undefined> {
  const token = await findToken(id);
  return token && createTicket(token, token, now().getTime());
}

/**
 * Resolves to the token of a ticket. It is signed with the key of the token itself, or of a client token that may see as
 * much: then a follower has made it.
 */
export async function verifyTicket(
  { findToken, tokenUse, now }: TokenVerifier,
  text: string,
): Promise<Token | undefined> {
  const ticket = readTicket(text, now().getTime());
  if (!ticket) return undefined;
  const token = await findToken(ticket.token.id);
  if (!token || token.kind === 'admin' || !isCurrent(token, now())) return undefined;
  const signer = ticket.signer === token.id ? token : await findToken(ticket.signer);
  if (!signer || !isCurrent(signer, now()) || !ticket.isSignedWith(signer.hash)) return undefined;
  if (signer !== token && !(signer.kind === 'client' && isWithin(token, signer))) return undefined;
  tokenUse.record(token.id);
  return toToken(token);
}

/** Whether a token sees no more than another one. */
function isWithin({ environment, projects }: StoredToken, outer: StoredToken): boolean {
  if (outer.environment !== '*' && outer.environment !== environment) return false;
  return outer.projects.includes('*') || projects.every((project) => outer.projects.includes(project));
}

async function verifyTokens(verifier: TokenVerifier, secrets: readonly string[]): Promise<readonly VerifiedToken[]> {
  const isList = Array.isArray(secrets) && secrets.every((secret) => typeof secret === 'string');
  if (!isList || secrets.length > LIMITS.tokensPerVerification) {
    const message = `must be a list of at most ${LIMITS.tokensPerVerification} secrets of tokens`;
    throw invalidInput([{ message, path: '' }]);
  }
  const verified = await Promise.all(
    secrets.map(async (secret) => {
      // Lists of many callers may come together, and each secret is hashed.
      await pause();
      return { secret, token: await verifyToken(verifier, secret) };
    }),
  );
  return verified.filter((one): one is VerifiedToken => one.token !== undefined && one.token.kind !== 'admin');
}

/** Whether the token is valid at this time: before its expiry, not at it. */
export function isCurrent({ expiresAt }: Pick<Token, 'expiresAt'>, now: Date): boolean {
  return expiresAt === null || now.getTime() < Date.parse(expiresAt);
}

/** A registered symbol, because one process may load two copies of this package. */
const API_TOKEN = Symbol.for('@flags/api-token');

/** Returns the public form of a token, with the mark that {@link isApiToken} reads. A spread copies the mark. */
export function toToken(stored: StoredToken | Token): Token {
  const { id, name, kind, project, projects, environment, createdAt, expiresAt, createdBy = null } = stored;
  const token: Token & { readonly [API_TOKEN]: true } = {
    id,
    name,
    kind,
    project,
    projects: [...projects],
    environment,
    createdAt,
    expiresAt,
    createdBy,
    [API_TOKEN]: true,
  };
  return token;
}

/**
 * Whether an actor is an API token of an engine, or a spread copy of one.
 *
 * Reads a symbol only. JSON and database rows carry no symbols, so no property of a user can imitate a token. A copy of
 * a token through JSON or `structuredClone` loses the mark.
 *
 * @example
 * authorize: (actor, action) => isApiToken(actor) || actor.isAdmin
 */
export function isApiToken(actor: unknown): actor is Token {
  return (Object(actor) as { readonly [API_TOKEN]?: unknown })[API_TOKEN] === true;
}

/** Hexadecimal digits of the hash: 128 bits. */
const ID_LENGTH = 32;

/** SHA-256 in hexadecimal. Secrets are random and long, so a slow hash is not needed. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Returns the id of the token with this hash. */
export function idOfHash(digest: string): string {
  return digest.slice(0, ID_LENGTH);
}

/** Compares in constant time. */
function isSameHash(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'));
}

/** The largest number of cached tokens. A full cache starts again, as it does when the version changes. */
const CACHED_TOKENS = 1000;

/**
 * Creates the token lookup for the authentication of requests. It caches tokens by id until the storage's data
 * version changes. Without a data version it reads the token each time. It never caches unknown ids.
 */
export function createTokenFinder({
  storage,
  read,
}: {
  readonly storage: FlagsStorage;
  readonly read: Read;
}): FindToken {
  const cache = new Map<string, TokenState>();
  let latest: string | undefined;

  return async (id) => {
    const version = await storage.dataVersion?.();
    if (version !== latest) cache.clear();
    latest = version;
    const token = cache.get(id) ?? (await read(tokenDocuments, id))?.state;
    // The version is read before the token, so a cached token is never older than its version.
    if (token && version !== undefined && version === latest) {
      if (cache.size >= CACHED_TOKENS && !cache.has(id)) cache.clear();
      cache.set(id, token);
    }
    return token;
  };
}

/** The last use of a token. A separate document: a use must not change the token's revision or append an event. */
interface TokenUse {
  readonly token: string;
  /** A use within the latest hour of use. ISO 8601. */
  readonly usedAt: string;
}

/** Has the token's id. The token is the parent, so that its deletion can require that no use remains. */
const tokenUses: IndexDocuments<TokenUse> = {
  kind: 'token-use',
  parentOf: ({ token }) => token,
  summarize: (use) => use,
};

/** Deletes the use of a token in the change set that deletes the token. */
export async function removeTokenUse(unit: UnitOfWork, token: string): Promise<void> {
  await unit.remove(tokenUses, token);
  unit.requireVacant({ kind: tokenUses.kind, parent: token });
}

/** Returns when each token was used, by id. */
export async function listTokenUses({ list }: Pick<DocumentReader, 'list'>): Promise<ReadonlyMap<string, string>> {
  const listed = await list({ kind: tokenUses.kind, part: 'summary' });
  return new Map(listed.map(({ key, content }) => [key.id, (content as TokenUse).usedAt]));
}

interface TokenUseOptions {
  readonly storage: FlagsStorage;
  readonly now: () => Date;
  /** Milliseconds between a use and its write; 0 disables the timer. */
  readonly interval: number;
  /** Called with the first error of a series, and with an error of the last write. */
  readonly onError: (error: unknown) => void;
}

const HOUR = 3_600_000;
/** The largest number of tokens in memory. Uses of further tokens wait for the next write. */
const TOKENS = 10_000;
const TOKENS_PER_COMMIT = 100;

/**
 * Creates a recorder. Each write compares the pending uses with the stored ones, and stores at most one use per token
 * and hour. A timer runs only while uses are pending.
 */
export function createTokenUseRecorder({ storage, now, interval, onError }: TokenUseOptions): TokenUseRecorder {
  /** The latest use of each token, in milliseconds since 1970. */
  const pending = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let latest: Promise<void> = Promise.resolve();
  let isFailureReported = false;

  function record(token: string): void {
    if (pending.size >= TOKENS && !pending.has(token)) return;
    pending.set(token, now().getTime());
    if (interval > 0) timer ??= setTimeout(() => void flush(), interval).unref();
  }

  async function write(isLast: boolean): Promise<void> {
    const uses = [...pending].map(([token, at]) => ({ token, usedAt: new Date(at).toISOString() }));
    pending.clear();
    for (let first = 0; first < uses.length; first += TOKENS_PER_COMMIT) {
      try {
        await writeUses(storage, uses.slice(first, first + TOKENS_PER_COMMIT));
        isFailureReported = false;
      } catch (error) {
        restore(uses.slice(first));
        if (!isFailureReported || isLast) onError(error);
        isFailureReported = true;
        return;
      }
    }
  }

  /** The next recorded use starts the timer again. */
  function restore(uses: readonly TokenUse[]): void {
    for (const { token, usedAt } of uses) if (!pending.has(token)) pending.set(token, Date.parse(usedAt));
  }

  function flush(isLast = false): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    latest = latest.then(() => write(isLast));
    return latest;
  }

  return { record, close: () => flush(true) };
}

/** Writes the uses of tokens that still exist, unless the storage has a use in the same hour or later. */
async function writeUses(storage: FlagsStorage, uses: readonly TokenUse[]): Promise<void> {
  const changes = uses.map((use) => ({
    id: use.token,
    of: { kind: tokenDocuments.kind, id: use.token },
    decide: (stored: TokenUse | undefined) => (stored && isSameHourOrLater(stored, use) ? undefined : use),
  }));
  if (await writeIndexDocuments(storage, tokenUses, changes)) return;
  throw new Error('Other processes keep changing the same tokens, so their last use is not stored.');
}

function isSameHourOrLater(stored: TokenUse, use: TokenUse): boolean {
  return hourOf(Date.parse(stored.usedAt)) >= hourOf(Date.parse(use.usedAt));
}

function hourOf(time: number): number {
  return Math.floor(time / HOUR);
}

/** Who calls: the tokens of secrets. */
export const verificationOperations = defineOperations({
  verifyToken: call({
    ref: NO_REFERENCE,
    run: (engine: TokenVerifier, { input }: Call<undefined, string>) => verifyToken(engine, input),
  }),
  verifyTokens: call({
    ref: NO_REFERENCE,
    run: (engine: TokenVerifier, { input }: Call<undefined, readonly string[]>) => verifyTokens(engine, input),
  }),
});
