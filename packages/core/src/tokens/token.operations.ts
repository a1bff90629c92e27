import { changeDocument, type DocumentChange, touch, writeIndex } from '../changes/document-change.js';
import type { Engine } from '../changes/engine.js';
import type { Read } from '../changes/reader.js';
import type { ChangeContext, Page, PageQuery } from '../common.types.js';
import { FlagsError } from '../errors.js';
import { assertEnvironment, findProject } from '../flags/find.js';
import { cutPage, pageBounds } from '../pages.js';
import { projectDocuments } from '../projects/project.js';
import { toTimestamp } from '../validation/primitives.js';
import { invalidInput } from '../validation/validator.js';
import * as tokenRules from './token.js';
import {
  createSecret,
  hashSecret,
  idOfHash,
  isCurrent,
  type StoredToken,
  TOKEN_REGISTRY,
  type TokenState,
  tokenDocuments,
  tokenRegistries,
  toToken,
} from './token.js';
import type { CreatedToken, NewToken, Token, TokenRotation } from './token.types.js';

export async function createToken(engine: Engine, input: NewToken, context?: ChangeContext): Promise<CreatedToken> {
  const { validate, change } = engine;
  const valid = validate.newToken(input);
  const isGiven = valid.secret !== undefined;
  const { secret, state } = newToken(engine, valid);
  await change({
    aggregate: tokenDocuments,
    id: state.id,
    context,
    decide: async (existing, read) => {
      if (state.environment !== '*') assertEnvironment(engine, state.environment);
      const sideWrites = await claimScopeAndName(state, read);
      const wasDeleted = isGiven && (await hasBeenDeleted(engine, state.id));
      const others = await listStoredTokens(engine);
      return {
        events: tokenRules.createToken({ existing: existing?.state, wasDeleted, others }, state),
        sideWrites,
      };
    },
  });
  return { token: toToken(state), secret };
}

export function listTokens(engine: Engine): Promise<readonly Token[]>;
export function listTokens(engine: Engine, page: PageQuery): Promise<Page<Token>>;
export async function listTokens(engine: Engine, query?: PageQuery): Promise<readonly Token[] | Page<Token>> {
  const bounds = query && pageBounds(engine, query);
  const tokens = (await listStoredTokens(engine)).map(toToken);
  return bounds ? cutPage(tokens, bounds, { cursorOf: ({ createdAt, id }) => `${createdAt} ${id}` }) : tokens;
}

export async function deleteToken(
  { read, change }: Engine,
  { token }: { readonly token: string },
  context?: ChangeContext,
): Promise<void> {
  const id = (await read(tokenDocuments, token)) ? token : idOfHash(hashSecret(token));
  await change({
    aggregate: tokenDocuments,
    id,
    context,
    decide: (found) => tokenRules.deleteToken((found ?? throwTokenNotFound()).state),
  });
}

/** The overlap of a rotation that names none, in milliseconds. */
const OVERLAP = 86_400_000;

export async function rotateToken(
  engine: Engine,
  id: string,
  input: TokenRotation = {},
  context?: ChangeContext,
): Promise<CreatedToken> {
  const { read, change, validate, now } = engine;
  const rotation = validate.tokenRotation(input);
  const old = await findToken(read, id);
  const { secret, state } = successorOf(engine, old.state, rotation);
  await change({
    aggregate: tokenDocuments,
    id: state.id,
    context,
    decide: async (existing, readAgain) => {
      const found = await findToken(readAgain, id);
      const sideWrites = await claimScopeAndName(state, readAgain);
      const others = (await listStoredTokens(engine)).filter((other) => other.id !== id);
      const expired = tokenRules.expireToken(found.state, new Date(now().getTime() + (rotation.overlap ?? OVERLAP)));
      // Without an event, the write still makes concurrent rotations and deletions of the old token conflict.
      const oldToken = changeDocument(tokenDocuments, { id, found, events: expired });
      return {
        events: tokenRules.createToken({ existing: existing?.state, wasDeleted: false, others }, state),
        sideWrites: [...sideWrites, oldToken ?? touch(tokenDocuments, { id, found })],
      };
    },
  });
  return { token: toToken(state), secret };
}

async function findToken(read: Read, id: unknown) {
  return (typeof id === 'string' ? await read(tokenDocuments, id) : undefined) ?? throwTokenNotFound();
}

/** Creates a token of the same scope. It lives as long as the old one was meant to, unless the rotation says otherwise. */
function successorOf(engine: Engine, old: TokenState, { expiresAt }: TokenRotation) {
  const { name, kind, environment, createdAt } = old;
  const lifetime = old.expiresAt === null ? undefined : Date.parse(old.expiresAt) - Date.parse(createdAt);
  const { maxTokenLifetime = Number.POSITIVE_INFINITY, now } = engine;
  const isLimited = lifetime !== undefined && lifetime <= maxTokenLifetime;
  const inherited = isLimited ? new Date(now().getTime() + lifetime).toISOString() : null;
  const projects = old.projects ?? [old.project];
  return newToken(engine, {
    name,
    kind,
    projects,
    environment,
    expiresAt: expiresAt === undefined ? inherited : expiresAt,
  });
}

/** Returns when a new token expires: as given, within the longest lifetime. */
function expiryOf({ now, maxTokenLifetime }: Engine, expiresAt: string | null): string | null {
  const given = expiresAt === null ? null : toTimestamp(expiresAt);
  if (maxTokenLifetime === undefined) return given;
  const latest = new Date(now().getTime() + maxTokenLifetime).toISOString();
  if (given === null) return latest;
  if (Date.parse(given) <= Date.parse(latest)) return given;
  const message = `must not be after ${latest}, because tokens live at most ${maxTokenLifetime} milliseconds here`;
  throw invalidInput([{ message, path: '/expiresAt' }]);
}

export async function verifyToken({ findToken, now }: Engine, secret: string): Promise<Token | undefined> {
  if (typeof secret !== 'string') return undefined;
  const token = await findToken(hashSecret(secret));
  return token && isCurrent(token, now()) ? toToken(token) : undefined;
}

/** Lists all tokens by creation time, then id. */
export async function listStoredTokens({ storage }: Pick<Engine, 'storage'>): Promise<readonly StoredToken[]> {
  const listed = await storage.list({ kind: tokenDocuments.kind, part: 'summary' });
  const tokens = listed.map(({ content }) => content as StoredToken);
  return tokens.sort((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt));
}

/** Creates the secret and the state of a token. Without an environment, a client or frontend token gets the default. */
function newToken(engine: Engine, input: NewToken): { readonly secret: string; readonly state: TokenState } {
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
    ...(projects.length > 1 && { projects }),
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
 * Checks that the projects exist. Returns the side writes that make concurrent changes conflict:
 * the registry for a new token of the same name, and each of several projects for its deletion.
 */
async function claimScopeAndName(
  { id, project, projects = [] }: TokenState,
  read: Read,
): Promise<readonly DocumentChange[]> {
  if (project !== '*') await findProject(read, { project });
  const touched = await Promise.all(projects.map((one) => touchProject(read, one)));
  const found = await read(tokenRegistries, TOKEN_REGISTRY);
  return [...touched, writeIndex(tokenRegistries, { id: TOKEN_REGISTRY, found, next: { lastToken: id } })];
}

async function touchProject(read: Read, project: string): Promise<DocumentChange> {
  return touch(projectDocuments, { id: project, found: await findProject(read, { project }) });
}

/** Whether a token was deleted before. The event log contains every deletion, including those by release 0.1. */
async function hasBeenDeleted({ storage }: Engine, id: string): Promise<boolean> {
  const filter = { subject: { kind: tokenDocuments.kind, id }, type: 'token-deleted' };
  const { events } = await storage.events({ order: 'newest-first', filter, limit: 1, withoutData: true });
  return events.length > 0;
}

/** The message does not contain the caller's input, which may be a secret. */
function throwTokenNotFound(): never {
  throw new FlagsError('token_not_found', 'There is no such token; list the tokens for their ids.');
}
