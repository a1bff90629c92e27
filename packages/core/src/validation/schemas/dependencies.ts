import type { DependencyInput } from '../../api/dependencies.js';
import type { ObjectSchema } from '../json-schema.js';
import { LIMITS } from '../limits.js';
import { name } from './names.js';

export const dependency: ObjectSchema<DependencyInput> = {
  type: 'object',
  properties: {
    flag: name,
    enabled: { type: 'boolean' },
    variants: { type: 'array', maxItems: LIMITS.variants, items: name },
  },
  required: ['flag'],
};
