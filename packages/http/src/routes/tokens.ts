import {
  type CreatedToken,
  type ListedToken,
  type NewToken,
  TOKEN_KINDS,
  type Token,
  type TokenChanges,
  type TokenRotation,
} from '@flags/core';
import type { JsonSchema } from '@flags/core/integration';
import { unchecked } from '../body.js';
import { type JsonChunks, jsonObject } from '../json-chunks.js';
import { listPieces, propertiesOf, propertyOf } from '../query.js';
import { type Route, route } from '../route.js';
import { TOKEN, TOKENS } from './paths.js';

/** The request body that creates a token. */
export interface WireNewToken {
  readonly tokenName?: string;
  readonly username?: string;
  /** Case-insensitive: some clients send `ADMIN`. */
  readonly type: string;
  readonly project?: string;
  readonly projects?: readonly string[];
  readonly environment?: string;
  readonly expiresAt?: string | null;
}

/** The body of a rotation. The id is in the body, so that no path has a word in the place of a token. */
interface WireRotation extends TokenRotation {
  readonly id: string;
}

function rotationSchema(rotation: JsonSchema): JsonSchema {
  const id = { type: 'string', minLength: 1, maxLength: 255, description: 'The id of the token, not its secret.' };
  return { type: 'object', properties: { id, ...propertiesOf(rotation) }, required: ['id'] };
}

/** Applies the engine's schema to the wire names. Clients cannot set the secret over HTTP. */
function newTokenSchema(newToken: JsonSchema): JsonSchema {
  const of = (name: keyof NewToken) => propertyOf(newToken, name);
  return {
    type: 'object',
    properties: {
      tokenName: of('name'),
      username: of('name'),
      type: { type: 'string', pattern: anyCase(TOKEN_KINDS), description: `one of ${TOKEN_KINDS.join(', ')}` },
      project: of('project'),
      projects: of('projects'),
      environment: of('environment'),
      expiresAt: of('expiresAt'),
    },
    required: ['type'],
    if: { type: 'object', properties: { username: {} }, required: ['username'] },
    else: { properties: { tokenName: {} }, required: ['tokenName'] },
  };
}

/** Prefers `tokenName` to `username`. The engine prefers `project` to `projects`. */
function newTokenFromWire(token: WireNewToken): NewToken {
  const { tokenName, username, type, project, projects, environment, expiresAt } = token;
  return unchecked<NewToken>({
    name: tokenName ?? username,
    kind: type.toLowerCase(),
    ...(project !== undefined && { project }),
    ...(projects !== undefined && { projects }),
    ...(environment !== undefined && { environment }),
    ...(expiresAt !== undefined && { expiresAt }),
  });
}

function anyCase(words: readonly string[]): string {
  const alternatives = words.map((word) => word.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`));
  return `^(?:${alternatives.join('|')})$`;
}

/** A token, or the token in an event. Events of release 0.1, and of tokens for one project, have no `projects`. */
type ShownToken = Omit<Token, 'projects'> & Partial<Pick<Token, 'projects'>>;

/** Older clients read `username` instead of `tokenName`, and `project`, the first of `projects`. */
export function tokenToWire({ id, name, kind, project, projects, environment, createdAt, expiresAt }: ShownToken) {
  return {
    id,
    tokenName: name,
    username: name,
    type: kind,
    project,
    projects: projects ?? [project],
    environment,
    createdAt,
    expiresAt,
  };
}

function tokenListToWire(tokens: JsonChunks) {
  return jsonObject({ tokens });
}

function listedTokenToWire({ lastUsedAt, ...token }: ListedToken) {
  return { ...tokenToWire(token), lastUsedAt };
}

function createdTokenToWire({ token, secret }: CreatedToken) {
  return { ...listedTokenToWire({ ...token, lastUsedAt: null }), secret };
}

export const tokenRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: TOKENS,
    action: 'listTokens',
    summary: 'All API tokens, oldest first, without their secrets',
    tag: 'API tokens',
    access: 'admin',
    paged: 'optional',
    streamed: 'flags',
    reply: { status: 200, schema: 'TokenList' },
    errors: ['invalid_input'],
    async handle({ flags, query }) {
      const { items, next } = await listPieces(query, {
        whole: () => flags.listTokens(),
        page: (page) => flags.listTokens(page),
        cursorOf: ({ createdAt, id }) => `${createdAt} ${id}`,
        toWire: listedTokenToWire,
      });
      return { chunks: tokenListToWire(items), next };
    },
  }),
  route({
    method: 'POST',
    path: TOKENS,
    action: 'createToken',
    summary: 'Create an API token; its secret is shown in this answer only',
    tag: 'API tokens',
    access: 'admin',
    body: { required: true, schema: ({ newToken }) => newTokenSchema(newToken), checkedBy: 'router' },
    reply: { status: 201, schema: 'CreatedToken', isSecret: true },
    errors: ['invalid_input', 'project_not_found', 'environment_not_found', 'token_exists'],
    handle: async ({ flags, body }) => ({
      body: createdTokenToWire(await flags.createToken(newTokenFromWire(unchecked(body)))),
    }),
  }),
  route({
    method: 'POST',
    path: `${TOKENS}/rotate`,
    action: 'rotateToken',
    summary: 'Replace an API token; the old one expires after an overlap; the new secret is shown in this answer only',
    tag: 'API tokens',
    access: 'admin',
    body: { required: true, schema: ({ tokenRotation }) => rotationSchema(tokenRotation), checkedBy: 'router' },
    reply: { status: 201, schema: 'CreatedToken', isSecret: true },
    errors: ['invalid_input', 'token_not_found', 'token_exists'],
    async handle({ flags, body }) {
      const { id, overlap, expiresAt } = unchecked<WireRotation>(body);
      const rotation = { ...(overlap !== undefined && { overlap }), ...(expiresAt !== undefined && { expiresAt }) };
      return { body: createdTokenToWire(await flags.rotateToken(id, rotation)) };
    },
  }),
  route({
    method: 'PUT',
    path: TOKEN,
    action: 'updateToken',
    // Whoever may rotate a token can already end it, and get another one with any expiry.
    permission: 'rotateToken',
    summary: 'Change when an API token expires; named by its id or by its secret',
    tag: 'API tokens',
    access: 'admin',
    body: { required: true, schema: ({ tokenChanges }) => tokenChanges, checkedBy: 'core' },
    reply: { status: 200 },
    errors: ['invalid_input', 'token_not_found'],
    async handle({ flags, params, body }) {
      await flags.updateToken({ token: params.token }, unchecked<TokenChanges>(body));
      return {};
    },
  }),
  route({
    method: 'DELETE',
    path: TOKEN,
    action: 'deleteToken',
    summary: 'Delete an API token, named by its id or by its secret',
    tag: 'API tokens',
    access: 'admin',
    reply: { status: 200 },
    errors: ['token_not_found'],
    async handle({ flags, params }) {
      await flags.deleteToken({ token: params.token });
      return {};
    },
  }),
];
