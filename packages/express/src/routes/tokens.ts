import { listPieces } from '../page-query.js';
import { type Route, route } from '../route.js';
import { unchecked } from '../unchecked.js';
import { newTokenFromWire, newTokenSchema } from '../wire/new-token.js';
import { createdTokenToWire, tokenListToWire, tokenToWire } from '../wire/token.js';
import { TOKENS } from './paths.js';

export const tokenRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: TOKENS,
    action: 'listTokens',
    summary: 'All API tokens, oldest first, without their secrets',
    tag: 'API tokens',
    access: 'admin',
    paged: 'asked',
    streamed: 'flags',
    reply: { status: 200, schema: 'TokenList' },
    errors: ['invalid_input'],
    async handle({ flags, query }) {
      const { items, next } = await listPieces(query, {
        whole: flags.listTokens,
        page: flags.pageTokens,
        cursorOf: ({ createdAt, id }) => `${createdAt} ${id}`,
        toWire: tokenToWire,
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
    method: 'DELETE',
    path: `${TOKENS}/:token`,
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
