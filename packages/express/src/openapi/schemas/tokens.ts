import { TOKEN_KINDS } from '@flags/core';
import { listOf, optionalTimestamp, referTo, text, timestamp } from './common.js';
import { strictObject } from './strict-object.js';

const token = {
  id: { type: 'string', description: 'Names the token; not its secret.' },
  tokenName: text,
  username: { type: 'string', description: 'The same as tokenName.' },
  type: { type: 'string', enum: TOKEN_KINDS },
  project: { type: 'string', description: 'The first of the projects; * for all.' },
  projects: { ...listOf(text), description: 'Ids of projects; * alone for all.' },
  environment: text,
  createdAt: timestamp,
  expiresAt: optionalTimestamp,
};

export const tokenSchemas = {
  Token: strictObject(token),

  TokenList: strictObject({ tokens: listOf(referTo('Token')) }),

  CreatedToken: strictObject({ ...token, secret: { type: 'string', description: 'Shown once, here.' } }),
};
