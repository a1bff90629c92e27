import type { NewToken, Token, TokenOperations } from '../api/tokens.js';
import { createToken, deleteToken, isCurrent, type TokenState, withoutHash } from '../domain/token.js';
import { projectDocuments, tokenDocuments } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import type { Read } from '../engine/reader.js';
import { FlagsError } from '../errors.js';
import { toTimestamp } from '../validation/iso-date.js';
import { refuseUnknownProject, requireEnvironment } from './find.js';
import { createTokenFinder } from './known-tokens.js';
import { cutPage, pageBounds } from './pages.js';
import { createSecret, hashSecret, idOfHash } from './token-secret.js';

/** API tokens: named by an id that is made of their hash, so that a secret finds its token in one read. */
export function tokenOperations(engine: Engine): TokenOperations {
  const { change, read, validate, now } = engine;
  const findToken = createTokenFinder(engine);
  return {
    async createToken(input, context) {
      const valid = validate.newToken(input);
      const secret = valid.secret ?? createSecret(valid.project ?? '*', valid.environment ?? '*');
      const token = toToken(valid, secret, now());
      await change({
        aggregate: tokenDocuments,
        id: token.id,
        context,
        decide: async (existing, read) => {
          await requireScope(engine, token, read);
          return createToken(existing?.state, token);
        },
      });
      return { token: withoutHash(token), secret };
    },

    listTokens: () => listTokens(engine),

    async pageTokens(query = {}) {
      return cutPage(await listTokens(engine), pageBounds(engine, query), {
        cursorOf: ({ createdAt, id }) => `${createdAt} ${id}`,
      });
    },

    async deleteToken({ token }, context) {
      const id = (await read(tokenDocuments, token)) ? token : idOfHash(hashSecret(token));
      await change({
        aggregate: tokenDocuments,
        id,
        context,
        decide: (found) => deleteToken((found ?? refuseUnknownToken()).state),
      });
    },

    async verifyToken(secret) {
      if (typeof secret !== 'string') return undefined;
      const token = await findToken(hashSecret(secret));
      return token && isCurrent(token, now()) ? withoutHash(token) : undefined;
    },
  };
}

/** Oldest first; those of one moment by id. */
async function listTokens({ storage }: Engine): Promise<readonly Token[]> {
  const listed = await storage.list({ kind: tokenDocuments.kind, part: 'summary' });
  const tokens = listed.map(({ content }) => content as Token);
  return tokens.sort((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt));
}

function toToken(input: NewToken, secret: string, now: Date): TokenState {
  const { name, kind, project = '*', environment = '*', expiresAt = null } = input;
  const hash = hashSecret(secret);
  return {
    id: idOfHash(hash),
    name,
    kind,
    project,
    environment,
    createdAt: now.toISOString(),
    expiresAt: expiresAt === null ? null : toTimestamp(expiresAt),
    hash,
  };
}

async function requireScope(engine: Engine, { project, environment }: Token, read: Read): Promise<void> {
  if (project !== '*' && !(await read(projectDocuments, project))) refuseUnknownProject(project);
  if (environment !== '*') requireEnvironment(engine, environment);
}

/** Names nothing: what was given may be a secret. */
function refuseUnknownToken(): never {
  throw new FlagsError('token_not_found', 'There is no such token; list the tokens for their ids.');
}
