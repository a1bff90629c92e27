import { FlagsError, LIMITS, type Token } from '@flags/core';
import { createListeners, hashSecret, idOfHash, toToken } from '@flags/core/integration/follower';
import { isObject } from '@flags/core/integration/shared';
import type { VerifiedToken } from '@flags/core/types';
import { LRUCache } from 'lru-cache';
import { createDeadline, type Times } from './times.js';
import { discard, type Upstream, UpstreamFailure } from './upstream.js';

/** Tokens in one request, and unknown tokens that wait for the next one. */
const BATCH = 100;
/** Known tokens, and unknown ones, in memory. */
const MAX_TOKENS = 10_000;
/** How many known tokens one check verifies at the client routes. */
const PROBES = 20;
/** A token that nobody has used for this long is forgotten, in milliseconds. */
const UNUSED = 86_400_000;

/** What the follower's own token may see, and so what the follower has. */
export interface Scope {
  readonly environment: string;
  /** Ids of projects, or only `*`. */
  readonly projects: readonly string[];
}

/** A token that the server knows. */
export interface ValidToken extends Scope {
  readonly secret: string;
  readonly kind: 'client' | 'frontend';
  readonly expiresAt: string | null;
}

/** Returns those of the secrets that are valid `client` or `frontend` tokens. At most 100. */
export type AskForTokens = (secrets: readonly string[], signal: AbortSignal) => Promise<readonly ValidToken[]>;

export function createTokenQuestion(upstream: Upstream): AskForTokens {
  let isAnonymous = false;
  return async (secrets, signal) => {
    const ask = () => upstream.ask({ path: '/edge/validate', body: { tokens: secrets }, isAnonymous, signal });
    const answer = await ask().catch((error) => {
      if (isAnonymous || !(error instanceof UpstreamFailure) || error.status !== 403) throw error;
      // The route of Unleash is open, and refuses tokens of clients.
      isAnonymous = true;
      return ask().catch(() => {
        isAnonymous = false;
        throw error;
      });
    });
    const { tokens } = Object(answer) as { readonly tokens?: unknown };
    if (!Array.isArray(tokens))
      throw new UpstreamFailure(`${upstream.url}/edge/validate sends no list of tokens.`, 200);
    return tokens.flatMap((token: unknown) => readToken(token) ?? []);
  };
}

/** Returns undefined for a token of another kind. Where the environment is absent, it is in the text of the token. */
function readToken(answer: unknown): ValidToken | undefined {
  if (!isObject(answer)) return undefined;
  const { token: secret, type, projects, environment, expiresAt } = answer;
  // Newer versions of Unleash call the tokens of clients `backend`.
  const kind = type === 'backend' ? 'client' : type;
  if (typeof secret !== 'string' || (kind !== 'client' && kind !== 'frontend')) return undefined;
  const [project, inText] = scopeInText(secret);
  const scope = Array.isArray(projects) ? projects : [project];
  return {
    secret,
    kind,
    environment: typeof environment === 'string' ? environment : (inText ?? ''),
    projects: scope.filter((id): id is string => typeof id === 'string'),
    expiresAt: typeof expiresAt === 'string' ? expiresAt : null,
  };
}

/** Returns the project and environment of `PROJECT:ENVIRONMENT.RANDOM`, or undefined for both in another text. */
export function scopeInText(secret: string): [project?: string, environment?: string] {
  const colon = secret.indexOf(':');
  const dot = secret.lastIndexOf('.');
  return colon > 0 && dot > colon + 1 ? [secret.slice(0, colon), secret.slice(colon + 1, dot)] : [];
}

/** Whether a scope includes another one. */
export function isWithin({ environment, projects }: Scope, scope: Scope): boolean {
  if (environment !== scope.environment || projects.length === 0) return false;
  return scope.projects.includes('*') || projects.every((project) => scope.projects.includes(project));
}

/** The server does not send the names of tokens. */
export function toNamedToken(
  { id, kind, projects, environment, expiresAt }: Pick<Token, 'id' | 'kind' | 'projects' | 'environment' | 'expiresAt'>,
  createdAt: string,
): Token {
  const name = `${kind}-${id.slice(0, 8)}`;
  return toToken({ id, name, kind, project: projects[0] ?? '*', projects, environment, createdAt, expiresAt });
}

/** A verified token, by the hash of its secret. */
export interface KnownToken {
  readonly hash: string;
  readonly token: Token;
  /** Milliseconds since 1970: when the server last confirmed it. */
  readonly checkedAt: number;
  /** In memory only. Absent after a start from the cache file, until the token is used. */
  readonly secret?: string;
  /** Milliseconds since 1970: when a caller last used it. */
  usedAt?: number;
}

/** Verifies the tokens of callers. */
export interface Tokens {
  /** @throws FlagsError `upstream_unavailable` for a token that is not known while the server is away */
  verify(secret: string): Promise<Token | undefined>;
  /** Asks the server, and not the memory: for followers of this follower. */
  verifyAll(secrets: readonly string[]): Promise<readonly VerifiedToken[]>;
  /** Returns a token by its id, if it is valid; null for one that has ended, undefined for one that was never verified. */
  find(id: string): KnownToken | null | undefined;
  /** Calls the listener with the id of each token that has ended; without one for all of them. */
  onEnded(listener: (id?: string) => void): () => void;
  /** Ends all streams, because the server refuses the own token. The tokens of callers stay known. */
  endAll(): void;
  known(): readonly KnownToken[];
  close(): void;
}

/** Whether the client routes of the server refuse a token, with the tag of their reply. */
export type ProbeToken = (
  token: Pick<ValidToken, 'secret' | 'kind'>,
  known: { readonly etag: string | undefined; readonly signal: AbortSignal },
) => Promise<{ readonly isRefused: boolean; readonly etag: string | undefined }>;

/** Asks the route that a token is for, and reads no body. */
export function createTokenProbe(upstream: Upstream): ProbeToken {
  return async ({ secret, kind }, { etag, signal }) => {
    const path = kind === 'client' ? '/api/client/features' : '/api/frontend';
    const headers = { authorization: secret, ...(etag !== undefined && { 'if-none-match': etag }) };
    const response = await upstream.send({ path, headers, signal });
    await discard(response);
    return { isRefused: response.status === 401, etag: response.headers.get('etag') ?? undefined };
  };
}

export interface TokensOptions {
  readonly ask: AskForTokens;
  readonly probe: ProbeToken;
  /**
   * Whether the server has a stream. Without one it may be an Unleash, whose check of tokens still confirms deleted
   * ones.
   */
  readonly hasStream: () => boolean;
  readonly scope: () => Scope | undefined;
  readonly known: readonly KnownToken[];
  readonly now: () => number;
  readonly times: Times;
  /** Milliseconds that a token stays valid without an answer of the server. */
  readonly offlineTokens: number;
  /** Called when the known tokens have changed. */
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

/** A token that waits for an answer of the server. Callers with the same token share it. */
interface Question {
  readonly hash: string;
  readonly secret: string;
  readonly isKnown: boolean;
  readonly answer: Promise<KnownToken | undefined>;
  resolve(known: KnownToken | undefined): void;
  reject(error: unknown): void;
}

/** The last answer of the client routes about a token. */
interface Probed {
  readonly at: number;
  readonly etag: string | undefined;
  readonly isRefused: boolean;
}

/**
 * Remembers verified tokens by the hash of their secrets, and asks the server for others: one request at a time. All known
 * tokens are asked again regularly, so that a revoked one ends.
 */
export function createTokens(options: TokensOptions): Tokens {
  const { ask, probe, hasStream, scope, now, times, offlineTokens, onChange, onError } = options;
  /** By id. */
  const known = new LRUCache<string, KnownToken>({ max: MAX_TOKENS });
  /** Unknown tokens, by hash, with the time until which they are remembered. */
  const unknown = new LRUCache<string, number>({ max: MAX_TOKENS });
  /** Ids of tokens that were known, and that the server refuses now. */
  const gone = new LRUCache<string, true>({ max: MAX_TOKENS });
  /** The tokens that wait for an answer, by hash. Includes those of the running request. */
  const questions = new Map<string, Question>();
  /** The tokens that wait for the next request. */
  let waiting: Question[] = [];
  /** The last check of each token at the client routes, by hash: its time and its result. */
  const probed = new LRUCache<string, Probed>({ max: MAX_TOKENS });
  const ended = createListeners<string | undefined>(onError);
  const closing = new AbortController();
  /** The number of unknown tokens among the waiting questions. */
  let strangers = 0;
  let isAsking = false;
  let pausedUntil = 0;
  for (const one of options.known) known.set(one.token.id, one);

  function knownOf(hash: string): KnownToken | undefined {
    const found = known.get(idOfHash(hash));
    return found?.hash === hash ? found : undefined;
  }

  /** @throws FlagsError `upstream_unavailable` */
  function question(secret: string, hash: string): Promise<KnownToken | undefined> {
    const same = questions.get(hash);
    if (same) return same.answer;
    const isKnown = knownOf(hash) !== undefined;
    if (!isKnown && strangers >= BATCH) return Promise.reject(unavailable('Too many unknown tokens wait.'));
    if (now() < pausedUntil) return Promise.reject(unavailable('The server that is followed asks to wait.'));
    const { promise: answer, resolve, reject } = withResolvers<KnownToken | undefined>();
    const asked = { hash, secret, isKnown, answer, resolve, reject };
    questions.set(hash, asked);
    waiting.push(asked);
    if (!isKnown) strangers += 1;
    if (!isAsking) void askWaiting();
    return answer;
  }

  async function askWaiting(): Promise<void> {
    isAsking = true;
    // Tokens of the same moment share a request.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      strangers -= batch.filter(({ isKnown }) => !isKnown).length;
      // The server limits requests with unknown tokens.
      if (await askBatch(batch)) await new Promise((resolve) => setTimeout(resolve, times.tokenPause).unref());
    }
    isAsking = false;
  }

  /** Returns whether one of the tokens is unknown. */
  async function askBatch(batch: readonly Question[]): Promise<boolean> {
    const deadline = createDeadline(closing.signal, times.request);
    const secrets = batch.map(({ secret }) => secret);
    let hasUnknown = false;
    try {
      const valid = new Map((await ask(secrets, deadline.signal)).map((token) => [token.secret, token]));
      for (const { hash, secret, resolve } of batch) {
        const confirmed = valid.get(secret);
        const isRefused =
          confirmed !== undefined && probed.get(hash)?.isRefused && (await isStillRefused(hash, confirmed));
        questions.delete(hash);
        const found = learn(hash, secret, isRefused ? undefined : confirmed);
        hasUnknown ||= found === undefined;
        resolve(found);
      }
    } catch (error) {
      if (error instanceof UpstreamFailure) pausedUntil = now() + error.retryAfter;
      for (const { hash, reject } of batch) {
        questions.delete(hash);
        reject(unavailable('The token cannot be checked now.', error));
      }
    } finally {
      deadline.end();
    }
    return hasUnknown;
  }

  /** Remembers the answer of the server. A token outside the scope counts as unknown. */
  function learn(hash: string, secret: string, valid: ValidToken | undefined): KnownToken | undefined {
    const before = knownOf(hash);
    const own = scope();
    if (valid === undefined || own === undefined || !isWithin(valid, own)) {
      unknown.set(hash, now() + times.unknownToken);
      if (before) end(before);
      return undefined;
    }
    const id = idOfHash(hash);
    const createdAt = before?.token.createdAt ?? new Date(now()).toISOString();
    const found = {
      hash,
      secret,
      checkedAt: now(),
      usedAt: before?.usedAt ?? now(),
      token: toNamedToken({ ...valid, id }, createdAt),
    };
    unknown.delete(hash);
    gone.delete(id);
    known.set(id, found);
    if (before === undefined) onChange();
    return found;
  }

  function end({ token }: KnownToken): void {
    known.delete(token.id);
    gone.set(token.id, true);
    ended.notify(token.id);
    onChange();
  }

  const isCurrent = ({ token: { expiresAt } }: KnownToken) => expiresAt === null || now() < Date.parse(expiresAt);
  const isFresh = ({ checkedAt }: KnownToken) => now() - checkedAt < offlineTokens;

  /** Returns whether the client routes refuse a token. Rejects if they do not answer. */
  async function isRefusedByRoutes(hash: string, token: Pick<ValidToken, 'secret' | 'kind'>): Promise<boolean> {
    const deadline = createDeadline(closing.signal, times.request);
    try {
      const before = probed.get(hash)?.etag;
      const { isRefused, etag = before } = await probe(token, { etag: before, signal: deadline.signal });
      probed.set(hash, { at: now(), etag, isRefused });
      return isRefused;
    } finally {
      deadline.end();
    }
  }

  /** Asks the client routes again about a token that they have refused, although the check of tokens confirms it. */
  async function isStillRefused(hash: string, token: ValidToken): Promise<boolean> {
    return !hasStream() && (await isRefusedByRoutes(hash, token).catch(() => true));
  }

  /** Asks the client routes for some tokens, in turn. Only a 401 ends a token. */
  async function probeSome(): Promise<void> {
    const lastOf = ({ hash }: KnownToken) => probed.get(hash)?.at ?? 0;
    const inTurn = [...known.values()].sort((one, other) => lastOf(one) - lastOf(other));
    for (const { hash, secret, token } of inTurn.filter(({ secret }) => secret !== undefined).slice(0, PROBES)) {
      const asked = { secret: secret ?? '', kind: token.kind as ValidToken['kind'] };
      const isRefused = await isRefusedByRoutes(hash, asked).catch(() => false);
      const found = knownOf(hash);
      if (isRefused && found) end(found);
    }
  }

  /** Asks again for all tokens whose secret is known. A failure changes nothing. Returns whether all were answered. */
  async function check(): Promise<boolean> {
    for (const one of [...known.values()]) {
      if (!isFresh(one)) end(one);
      else if (one.usedAt !== undefined && now() - one.usedAt > UNUSED) known.delete(one.token.id);
    }
    const secrets = [...known.values()].flatMap(({ secret }) => secret ?? []);
    let isComplete = true;
    for (let first = 0; first < secrets.length; first += BATCH) {
      const batch = secrets.slice(first, first + BATCH);
      const answers = await Promise.allSettled(batch.map((secret) => question(secret, hashSecret(secret))));
      isComplete &&= answers.every(({ status }) => status === 'fulfilled');
    }
    if (isComplete && !hasStream()) await probeSome();
    return isComplete;
  }

  let timer: NodeJS.Timeout;
  const checkAfter = (milliseconds: number) => {
    timer = setTimeout(() => {
      void check().then((isComplete) => {
        if (!closing.signal.aborted) checkAfter(isComplete ? times.tokenCheck : times.tokenCheck / 3);
      });
    }, milliseconds).unref();
  };
  // Followers that start together check at different moments.
  checkAfter(times.tokenCheck * (0.7 + 0.3 * Math.random()));

  return {
    async verify(secret) {
      if (typeof secret !== 'string' || secret === '' || secret.length > LIMITS.secret) return undefined;
      const hash = hashSecret(secret);
      const found = knownOf(hash);
      if (found && !isCurrent(found)) return undefined;
      if (found) found.usedAt = now();
      if (found?.secret !== undefined && isFresh(found)) return found.token;
      if ((unknown.get(hash) ?? 0) > now()) return undefined;
      try {
        return (await question(secret, hash))?.token;
      } catch (error) {
        // Known from the cache file.
        if (found && isFresh(found)) return found.token;
        throw error;
      }
    },
    async verifyAll(secrets) {
      const answers = await Promise.all(secrets.map((secret) => question(secret, hashSecret(secret))));
      return answers.flatMap((found, at) => (found ? { secret: secrets[at] ?? '', token: found.token } : []));
    },
    find(id) {
      const found = known.get(id);
      if (found) return isCurrent(found) && isFresh(found) ? found : null;
      return gone.has(id) ? null : undefined;
    },
    onEnded: ended.add,
    endAll: () => ended.notify(undefined),
    known: () => [...known.values()],
    close() {
      clearTimeout(timer);
      closing.abort();
    },
  };
}

function unavailable(message: string, cause?: unknown): FlagsError {
  return new FlagsError('upstream_unavailable', message, undefined, { cause });
}

interface Resolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** `Promise.withResolvers` needs Node 22. */
function withResolvers<T>(): Resolvers<T> {
  let [resolve, reject]: [Resolvers<T>['resolve'], Resolvers<T>['reject']] = [() => undefined, () => undefined];
  const promise = new Promise<T>((onResolve, onReject) => {
    [resolve, reject] = [onResolve, onReject];
  });
  return { promise, resolve, reject };
}
