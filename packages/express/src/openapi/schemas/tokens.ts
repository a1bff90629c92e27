import { TOKEN_KINDS } from '@flags/core';
import { listOf, optionalTimestamp, referTo, text, timestamp } from './common.js';
import { strictObject } from './strict-object.js';

const token = {
  id: { type: 'string', description: 'Names the token; not its secret.' },
  tokenName: text,
  username: { type: 'string', description: 'The same as tokenName.' },
  type: { type: 'string', enum: TOKEN_KINDS },
  project: text,
  projects: { ...listOf(text), description: 'The project, in a list.' },
  environment: text,
  createdAt: timestamp,
  expiresAt: optionalTimestamp,
};

export const tokenSchemas = {
  Token: strictObject(token),

  TokenList: strictObject({ tokens: listOf(referTo('Token')) }),

  CreatedToken: strictObject({ ...token, secret: { type: 'string', description: 'Shown once, here.' } }),
};
