import { type NewToken, TOKEN_KINDS } from '@flags/core';
import type { InputSchemas } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import type { TokenChanges, TokenRotation } from '@flags/core/types';
import { TOKEN, TOKENS } from '../../api/paths.js';
import { listReply, WHOLE_LIST } from '../../api/query.js';
import { route, TOO_LARGE } from '../../api/route.js';
import { unchecked } from '../../messages/request.js';
import {
  example,
  listOf,
  objectComponent,
  optionalTimestamp,
  propertiesOf,
  propertyOf,
  strictObject,
  text,
  timestamp,
} from '../../messages/schema.js';
import { createdTokenToWire, listedTokenToWire } from './wire.js';

const token = {
  id: { type: 'string', description: 'The id of the token, not its secret.' },
  tokenName: text,
  username: { type: 'string', description: 'The same as `tokenName`.' },
  type: example('client', { type: 'string', enum: TOKEN_KINDS }),
  project: { ...example('*'), description: 'The first of `projects`; `*` means all projects.' },
  projects: { ...listOf(text), description: 'Ids of projects; `*` alone means all projects.' },
  environment: text,
  createdAt: timestamp,
  expiresAt: optionalTimestamp,
  lastUsedAt: { ...optionalTimestamp, description: 'Time of the last use, accurate to the hour; null: never.' },
  createdBy: {
    ...example({ name: 'ada@example.org' }, { anyOf: [strictObject({ name: text }), { type: 'null' }] }),
    description: 'The person who created the token, also through another token; null if nobody is known.',
  },
};

const createdTokenSchema = objectComponent('CreatedToken', {
  ...token,
  secret: {
    ...example('*:production.<shown once>'),
    description: 'The secret of the token. No later response contains it.',
  },
});

/** The request body that creates a token. */
interface WireNewToken {
  readonly tokenName?: string;
  readonly username?: string;
  /** Case-insensitive: some clients send `ADMIN`. */
  readonly type: string;
  readonly project?: string;
  readonly projects?: readonly string[];
  readonly environment?: string;
  readonly expiresAt?: string | null;
}

/** The body of a rotation contains the id, because a fixed word in the path could be mistaken for a token. */
function rotationInput({ tokenRotation }: InputSchemas): JsonSchema {
  const id = { type: 'string', minLength: 1, maxLength: 255, description: 'The id of the token, not its secret.' };
  return { type: 'object', properties: { id, ...propertiesOf(tokenRotation) }, required: ['id'] };
}

/** Applies the engine's schema to the wire names. Clients cannot set the secret over HTTP. */
function newTokenInput({ newToken }: InputSchemas): JsonSchema {
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

export const tokenRoutes = [
  route('GET', TOKENS, 'listTokens', {
    summary: 'List the API tokens without their secrets, oldest first',
    paged: 'optional',
    long: WHOLE_LIST,
    reply: objectComponent('TokenList', { tokens: listOf(objectComponent('Token', token)) }),
    handle: ({ flags, query }) =>
      listReply(query, {
        isWhole: true,
        page: (page) => flags.tokens.list(page),
        toWire: listedTokenToWire,
        body: (tokens) => ({ tokens }),
      }),
  }),
  route('POST', TOKENS, 'createToken', {
    summary: 'Create an API token; only this response contains its secret',
    body: { schema: newTokenInput },
    status: 201,
    reply: createdTokenSchema,
    form: { isSecret: true },
    errors: ['project_not_found', 'environment_not_found', 'token_exists'],
    never: TOO_LARGE,
    handle: async ({ flags, body, context }) => ({
      body: createdTokenToWire(await flags.tokens.create(newTokenFromWire(unchecked(body)), context)),
    }),
  }),
  route('POST', `${TOKENS}/rotate`, 'rotateToken', {
    summary:
      'Replace an API token; only this response contains the new secret, and the old token expires after `overlap`',
    body: { schema: rotationInput },
    status: 201,
    reply: createdTokenSchema,
    form: { isSecret: true },
    errors: ['token_not_found', 'token_exists'],
    never: TOO_LARGE,
    async handle({ flags, body, context }) {
      const { id, overlap, expiresAt } = unchecked<TokenRotation & { readonly id: string }>(body);
      const rotation = { ...(overlap !== undefined && { overlap }), ...(expiresAt !== undefined && { expiresAt }) };
      return { body: createdTokenToWire(await flags.tokens.rotate({ token: id }, rotation, context)) };
    },
  }),
  route('PUT', TOKEN, 'updateToken', {
    summary: 'Change when an API token expires',
    body: 'tokenChanges',
    never: TOO_LARGE,
    async handle({ flags, params, body, context }) {
      await flags.tokens.update({ token: params.token }, unchecked<TokenChanges>(body), context);
    },
  }),
  route('DELETE', TOKEN, 'deleteToken', {
    summary: 'Delete an API token',
    handle: ({ flags, params, context }) => flags.tokens.delete({ token: params.token }, context),
  }),
];
