import type { PageQuery } from '../../api/pages.js';
import type { ObjectSchema } from '../json-schema.js';
import { LIMITS } from '../limits.js';

export const pageQuery: ObjectSchema<PageQuery> = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: LIMITS.itemsPerPage },
    after: { type: 'string' },
  },
};
