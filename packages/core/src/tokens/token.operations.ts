import { type DocumentChange, touch, writeIndex } from '../changes/document-change.js';
import type { Engine } from '../changes/engine.js';
import type { Read } from '../changes/reader.js';
import { FlagsError } from '../errors.js';
import { assertEnvironment, findProject } from '../flags/find.js';
import { cutPage, pageBounds } from '../pages.js';
import { projectDocuments } from '../projects/project.js';
import { toTimestamp } from '../validation/primitives.js';
import {
  createSecret,
  createToken,
  deleteToken,
  hashSecret,
  idOfHash,
  isCurrent,
  isSameHash,
  type StoredToken,
  TOKEN_REGISTRY,
  type TokenState,
  tokenDocuments,
  tokenRegistries,
  toToken,
} from './token.js';
import type { NewToken, TokenOperations } from './token.types.js';

/** So many tokens are kept at hand. */
const KEPT = 1000;

/** The token whose secret has this hash; undefined when there is none. */
export type FindToken = (hash: string) => Promise<TokenState | undefined>;

/**
 * Finds tokens, which are looked for with every request of an application: where the storage tells a stamp, a token is
 * read again only when anything has changed since, by whomever. Hashes that name no token are looked for each time.
 */
export function createTokenFinder({ storage, read }: Pick<Engine, 'storage' | 'read'>): FindToken {
  const known = new Map<string, TokenState>();
  let latest: string | undefined;

  return async (hash) => {
    const stamp = await storage.dataVersion?.();
    if (stamp !== latest) known.clear();
    latest = stamp;
    const token = known.get(hash) ?? (await readToken(read, hash));
    // What was read after a stamp may be newer than that, not older: while the stamp is the last, it is still so.
    if (token && stamp !== undefined && stamp === latest && known.size < KEPT) known.set(hash, token);
    return token;
  };
}

async function readToken(read: Engine['read'], hash: string): Promise<TokenState | undefined> {
  const found = await read(tokenDocuments, idOfHash(hash));
  return found && isSameHash(found.state.hash, hash) ? found.state : undefined;
}

/** API tokens: named by an id that is made of their hash, so that a secret finds its token in one read. */
export function tokenOperations(engine: Engine): TokenOperations {
  const { change, read, validate, now } = engine;
  const findToken = createTokenFinder(engine);
  const listTokens = async () => (await listStoredTokens(engine)).map(toToken);
  return {
    async createToken(input, context) {
      const valid = validate.newToken(input);
      const isGiven = valid.secret !== undefined;
      const { secret, state } = newToken(engine, valid);
      await change({
        aggregate: tokenDocuments,
        id: state.id,
        context,
        decide: async (existing, read) => {
          const along = await claimScopeAndName(engine, state, read);
          const wasDeleted = isGiven && (await hasBeenDeleted(engine, state.id));
          const others = await listStoredTokens(engine);
          return { events: createToken({ existing: existing?.state, wasDeleted, others }, state), sideWrites: along };
        },
      });
      return { token: toToken(state), secret };
    },

    listTokens,

    async pageTokens(query = {}) {
      return cutPage(await listTokens(), pageBounds(engine, query), {
        cursorOf: ({ createdAt, id }) => `${createdAt} ${id}`,
      });
    },

    async deleteToken({ token }, context) {
      const id = (await read(tokenDocuments, token)) ? token : idOfHash(hashSecret(token));
      await change({
        aggregate: tokenDocuments,
        id,
        context,
        decide: (found) => deleteToken((found ?? throwTokenNotFound()).state),
      });
    },

    async verifyToken(secret) {
      if (typeof secret !== 'string') return undefined;
      const token = await findToken(hashSecret(secret));
      return token && isCurrent(token, now()) ? toToken(token) : undefined;
    },
  };
}

/** Oldest first; those of one moment by id. */
export async function listStoredTokens({ storage }: Pick<Engine, 'storage'>): Promise<readonly StoredToken[]> {
  const listed = await storage.list({ kind: tokenDocuments.kind, part: 'summary' });
  const tokens = listed.map(({ content }) => content as StoredToken);
  return tokens.sort((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt));
}

/** What comes from outside the decision. A token for servers or browsers without an environment is for the default one. */
function newToken({ settings, now }: Engine, input: NewToken): { readonly secret: string; readonly state: TokenState } {
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
    expiresAt: expiresAt === null ? null : toTimestamp(expiresAt),
    hash,
  };
  return { secret, state };
}

/** Each once; `*` includes all others. */
function projectsOf({ project, projects = ['*'] }: NewToken): readonly string[] {
  const named = project === undefined ? projects : [project];
  return named.includes('*') ? ['*'] : [...new Set(named)];
}

/**
 * Finds the environment and the projects, and changes the documents that crossing changes have to see moved: the registry,
 * for those who give out the same name, and each of several projects, for those who delete it.
 */
async function claimScopeAndName(
  engine: Engine,
  { id, project, projects = [], environment }: TokenState,
  read: Read,
): Promise<readonly DocumentChange[]> {
  if (project !== '*') await findProject(read, { project });
  if (environment !== '*') assertEnvironment(engine, environment);
  const touched = await Promise.all(projects.map((one) => touchProject(read, one)));
  const found = await read(tokenRegistries, TOKEN_REGISTRY);
  return [...touched, writeIndex(tokenRegistries, { id: TOKEN_REGISTRY, found, next: { lastToken: id } })];
}

async function touchProject(read: Read, project: string): Promise<DocumentChange> {
  return touch(projectDocuments, { id: project, found: await findProject(read, { project }) });
}

/** The event log remembers every deletion, also those by release 0.1. */
async function hasBeenDeleted({ storage }: Engine, id: string): Promise<boolean> {
  const filter = { subject: { kind: tokenDocuments.kind, id }, type: 'token-deleted' };
  const { events } = await storage.events({ order: 'newest-first', filter, limit: 1, withoutData: true });
  return events.length > 0;
}

/** Names nothing: what was given may be a secret. */
function throwTokenNotFound(): never {
  throw new FlagsError('token_not_found', 'There is no such token; list the tokens for their ids.');
}
