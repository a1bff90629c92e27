import type { PageQuery } from '../../api/pages.js';
import type { ObjectSchema } from '../json-schema.js';

export const pageQuery: ObjectSchema<PageQuery> = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 1000 },
    after: { type: 'string' },
  },
};
