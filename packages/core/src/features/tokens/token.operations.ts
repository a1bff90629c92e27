import { assertEnvironment } from '../../base/assert-environment.js';
import type { ListPage, PageQuery, TokenChangeContext } from '../../base/common.types.js';
import { FlagsError } from '../../base/errors.js';
import { cutPage, pageBounds } from '../../base/pages.js';
import { toTimestamp } from '../../base/primitives.js';
import { invalidInput } from '../../base/validator.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import type { Engine, PreparedChange, UnitOfWork } from '../../kernel/engine.js';
import {
  type Call,
  call,
  defineOperations,
  NO_REFERENCE,
  type Page,
  singleOperation,
  TOKEN,
} from '../../kernel/operation.js';
import type { DocumentReader } from '../../storage/document-reader.js';
import { findProject, referredProjects } from '../flags/flag.kind.js';
import * as tokenRules from './token.decide.js';
import {
  createSecret,
  type StoredToken,
  TOKEN_REGISTRY,
  type TokenParts,
  type TokenState,
  tokenRegistries,
} from './token.js';
import { tokenDocuments } from './token.kind.js';
import type {
  CreatedToken,
  ListedToken,
  NewToken,
  Token,
  TokenChanges,
  TokenRef,
  TokenRotation,
} from './token.types.js';
import { hashSecret, idOfHash, listTokenUses, removeTokenUse, toToken } from './token-verification.operations.js';

/** What operations on tokens need beside the rest of the engine. */
type TokenEngine = Engine & Pick<TokenParts, 'maxTokenLifetime'>;

function createToken(engine: TokenEngine, _: undefined, input: NewToken): PreparedChange<CreatedToken> {
  const isGiven = input.secret !== undefined;
  const { secret, state } = newToken(engine, input);
  return {
    subject: { kind: tokenDocuments.kind, id: state.id },
    async decide(unit, { person }) {
      const existing = await unit.read(tokenDocuments, state.id);
      if (state.environment !== '*') assertEnvironment(engine, state.environment);
      await claimScopeAndName(state, unit);
      const wasDeleted = isGiven && (await hasBeenDeleted(engine, state.id));
      const others = await listStoredTokens(unit);
      const token = { ...state, ...(person && { createdBy: person }) };
      const events = tokenRules.createToken({ existing: existing?.state, wasDeleted, others }, token);
      await unit.apply(tokenDocuments, state.id, events);
    },
    result: async ({ read }) => {
      return { token: toToken((await read(tokenDocuments, state.id))?.state ?? state), secret };
    },
  };
}

async function listTokens(engine: Engine, query?: PageQuery): Promise<ListPage<ListedToken>> {
  const bounds = pageBounds(query);
  const [stored, uses] = await Promise.all([listStoredTokens(engine), listTokenUses(engine)]);
  const tokens = stored.map((token) => ({ ...toToken(token), lastUsedAt: uses.get(token.id) ?? null }));
  return cutPage(tokens, bounds, { cursorOf: ({ createdAt, id }) => `${createdAt} ${id}` });
}

async function findTokenId({ read }: Engine, { token }: TokenRef): Promise<string> {
  return (await read(tokenDocuments, token)) ? token : idOfHash(hashSecret(token));
}

async function updateToken(engine: TokenEngine, ref: TokenRef, input: TokenChanges): Promise<PreparedChange<Token>> {
  const { expiresAt } = input;
  const id = await findTokenId(engine, ref);
  return {
    subject: { kind: tokenDocuments.kind, id },
    async decide(unit) {
      const { state } = (await unit.read(tokenDocuments, id)) ?? throwTokenNotFound();
      const end = expiryOf(engine, expiresAt, new Date(state.createdAt));
      await unit.apply(tokenDocuments, id, tokenRules.updateToken(state, end));
    },
    result: async ({ read }) => toToken(((await read(tokenDocuments, id)) ?? throwTokenNotFound()).state),
  };
}

async function deleteToken(engine: Engine, ref: TokenRef): Promise<PreparedChange<void>> {
  const id = await findTokenId(engine, ref);
  return {
    subject: { kind: tokenDocuments.kind, id },
    async decide(unit) {
      const { state } = (await unit.read(tokenDocuments, id)) ?? throwTokenNotFound();
      await unit.apply(tokenDocuments, id, tokenRules.deleteToken(state));
      await removeTokenUse(unit, id);
    },
    result: () => undefined,
  };
}

/** The overlap of a rotation that names none, in milliseconds. */
const OVERLAP = 86_400_000;

async function rotateToken(
  engine: TokenEngine,
  { token: id }: TokenRef,
  input: TokenRotation,
): Promise<PreparedChange<CreatedToken>> {
  const { read, now } = engine;
  const { overlap = OVERLAP, expiresAt } = input;
  const known = (typeof id === 'string' ? await read(tokenDocuments, id) : undefined) ?? throwTokenNotFound();
  const { secret, state } = successorOf(engine, known.state, expiresAt);
  const end = new Date(now().getTime() + overlap);
  return {
    subject: { kind: tokenDocuments.kind, id: state.id },
    async decide(unit) {
      const old = (await unit.read(tokenDocuments, id)) ?? throwTokenNotFound();
      await claimScopeAndName(state, unit);
      const tokens = await listStoredTokens(unit);
      const { created, replaced } = tokenRules.rotateToken({ old: old.state, token: state, end, tokens });
      await unit.apply(tokenDocuments, state.id, created);
      await unit.apply(tokenDocuments, id, replaced);
    },
    result: () => ({ token: toToken(state), secret }),
  };
}

/** Creates a token of the same scope. By default it has the lifetime of the old one. */
function successorOf(engine: TokenEngine, old: TokenState, expiresAt: string | null | undefined) {
  const { name, kind, environment, projects, createdBy } = old;
  const lifetime = old.expiresAt === null ? undefined : Date.parse(old.expiresAt) - Date.parse(old.createdAt);
  const { maxTokenLifetime = Number.POSITIVE_INFINITY, now } = engine;
  const isLimited = lifetime !== undefined && lifetime <= maxTokenLifetime;
  const inherited = isLimited ? new Date(now().getTime() + lifetime).toISOString() : null;
  const end = expiresAt === undefined ? inherited : expiresAt;
  const { secret, state } = newToken(engine, { name, kind, environment, projects, expiresAt: end });
  return { secret, state: { ...state, ...(createdBy && { createdBy }) } };
}

/** Returns the expiry of a token, within the maximum lifetime. */
function expiryOf({ now, maxTokenLifetime }: TokenEngine, expiresAt: string | null, created = now()): string | null {
  const given = expiresAt === null ? null : toTimestamp(expiresAt);
  if (maxTokenLifetime === undefined) return given;
  const latest = new Date(created.getTime() + maxTokenLifetime).toISOString();
  // `null` asks for no expiry, so it must not expire a token that is older than the maximum lifetime.
  if (given === null && Date.parse(latest) > now().getTime()) return latest;
  if (given !== null && Date.parse(given) <= Date.parse(latest)) return given;
  const message = `must not be after ${latest}, because maxTokenLifetime is ${maxTokenLifetime} milliseconds`;
  throw invalidInput([{ message, path: '/expiresAt' }]);
}

/** Lists all tokens by creation time, then id. */
export async function listStoredTokens({ list }: Pick<DocumentReader, 'list'>): Promise<readonly StoredToken[]> {
  const listed = await list({ kind: tokenDocuments.kind, part: 'summary' });
  const tokens = listed.map(({ content }) => content as StoredToken);
  return tokens.sort((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt));
}

/** Creates the secret and the state of a token. Without an environment, a client or frontend token gets the default. */
function newToken(engine: TokenEngine, input: NewToken): { readonly secret: string; readonly state: TokenState } {
  const { settings, now } = engine;
  const { name, kind, expiresAt = null } = input;
  const { environment = kind === 'admin' ? '*' : settings.environment } = input;
  const projects = projectsOf(input);
  const [project = '*'] = projects;
  const secret = input.secret ?? createSecret(projects, environment);
  const hash = hashSecret(secret);
  const state: TokenState = {
    id: idOfHash(hash),
    name,
    kind,
    project,
    projects,
    environment,
    createdAt: now().toISOString(),
    expiresAt: expiryOf(engine, expiresAt),
    hash,
  };
  return { secret, state };
}

/** Returns the distinct projects of a token. `*` includes all others. */
function projectsOf({ project, projects = ['*'] }: NewToken): readonly string[] {
  const named = project === undefined ? projects : [project];
  return named.includes('*') ? ['*'] : [...new Set(named)];
}

/**
 * Checks that the projects exist. Writes documents that make concurrent changes conflict: the
 * registry for a new token of the same name, and each of several projects for its deletion.
 */
async function claimScopeAndName({ id, project, projects }: TokenState, unit: UnitOfWork): Promise<void> {
  for (const one of project === '*' ? [] : projects) {
    await findProject(unit.read, { project: one });
    if (projects.length > 1) await unit.touch(referredProjects, one);
  }
  await unit.put(tokenRegistries, TOKEN_REGISTRY, { lastToken: id });
}

/** Whether a token was deleted before. The event log contains every deletion. */
async function hasBeenDeleted({ storage }: Engine, id: string): Promise<boolean> {
  const filter = { subject: { kind: tokenDocuments.kind, id }, type: 'token-deleted' };
  const { events } = await storage.events({ order: 'newest-first', filter, limit: 1, withoutData: true });
  return events.length > 0;
}

/** The message does not contain the caller's input, which may be a secret. */
function throwTokenNotFound(): never {
  throw new FlagsError('token_not_found', 'There is no such token; list the tokens for their ids.');
}

export const tokenOperations = defineOperations({
  createToken: singleOperation({ method: 'tokens.create', ref: NO_REFERENCE, input: 'newToken', prepare: createToken }),
  updateToken: singleOperation({ method: 'tokens.update', ref: TOKEN, input: 'tokenChanges', prepare: updateToken }),
  rotateToken: singleOperation({ method: 'tokens.rotate', ref: TOKEN, input: 'tokenRotation', prepare: rotateToken }),
  deleteToken: singleOperation({ method: 'tokens.delete', ref: TOKEN, prepare: deleteToken }),
  listTokens: call({
    method: 'tokens.list',
    ref: NO_REFERENCE,
    run: (engine: Engine, { context }: Call<undefined, undefined, Page>) => listTokens(engine, context),
  }),
});

/** The secrets that admit callers to the HTTP API: `flags.tokens`. */
export class Tokens extends Namespace {
  /**
   * Creates an API token.
   *
   * If several callers create the same secret, or the same name and kind, concurrently, exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `environment_not_found`, `token_exists` (the name or the
   * given secret is in use), `token_deleted` (a token with the given secret was deleted, and stays deleted),
   * `revision_mismatch` (with any `ifRevision`)
   * @example
   * const { secret } = await flags.tokens.create({ name: 'web', kind: 'client', environment: 'production' });
   */
  create(input: NewToken, context?: TokenChangeContext): Promise<CreatedToken> {
    return run(this, tokenOperations.createToken, { input, context });
  }

  /**
   * Changes when a token expires. Name, kind, projects, environment and secret stay. A token that has expired is valid
   * again if the new time is in the future.
   *
   * @throws FlagsError `invalid_input` (also for a time beyond the option `maxTokenLifetime`), `token_not_found`,
   * `revision_mismatch`
   * @example
   * await flags.tokens.update({ token: id }, { expiresAt: '2027-01-01T00:00:00.000Z' });
   */
  update(ref: TokenRef, changes: TokenChanges, context?: TokenChangeContext): Promise<Token> {
    return run(this, tokenOperations.updateToken, { ref, input: changes, context });
  }

  /**
   * Replaces a token: creates one with a new secret, and lets the old one expire after an overlap. Name, kind, projects
   * and environment stay. Both tokens are valid during the overlap.
   *
   * If several callers rotate a token concurrently, exactly one succeeds. A token can be rotated once: rotate its
   * successor next.
   *
   * @param ref the id of the token, not its secret
   * @throws FlagsError `invalid_input`, `token_not_found`, `token_exists` (the token was rotated before)
   * @example
   * const { secret } = await flags.tokens.rotate({ token: id }, { overlap: 3_600_000 });
   */
  rotate(ref: TokenRef, rotation: TokenRotation = {}, context?: TokenChangeContext): Promise<CreatedToken> {
    return run(this, tokenOperations.rotateToken, { ref, input: rotation, context });
  }

  /**
   * Deletes a token. The token is rejected from the moment this promise resolves.
   *
   * @throws FlagsError `token_not_found`, `revision_mismatch`
   * @example
   * await flags.tokens.delete({ token: id });
   */
  delete(ref: TokenRef, context?: TokenChangeContext): Promise<void> {
    return run(this, tokenOperations.deleteToken, { ref, context });
  }

  /**
   * Lists tokens, including expired ones, oldest first.
   *
   * @example
   * const { items } = await flags.tokens.list();
   * const admins = items.filter((token) => token.kind === 'admin');
   */
  list(page?: PageQuery): Promise<ListPage<ListedToken>> {
    return run(this, tokenOperations.listTokens, { context: page });
  }
}
