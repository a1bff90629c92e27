import { type NewToken, TOKEN_KINDS } from '../../api/tokens.js';
import type { JsonSchema, ObjectSchema } from '../json-schema.js';
import { LIMITS } from '../limits.js';
import { dateTime, text } from './names.js';

const scope: JsonSchema = { type: 'string', minLength: 1, maxLength: LIMITS.name };

export const newToken: ObjectSchema<NewToken> = {
  type: 'object',
  properties: {
    name: text(LIMITS.label),
    kind: { type: 'string', enum: TOKEN_KINDS },
    project: scope,
    projects: { type: 'array', items: scope, minItems: 1, maxItems: LIMITS.projectsPerToken },
    environment: scope,
    expiresAt: { ...dateTime, type: ['string', 'null'] },
    secret: {
      type: 'string',
      minLength: LIMITS.shortestSecret,
      maxLength: LIMITS.secret,
      pattern: '^[!-~]+$',
      description: 'printable ASCII characters without spaces',
    },
  },
  required: ['name', 'kind'],
};
