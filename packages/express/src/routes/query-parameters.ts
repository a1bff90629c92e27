import type { QueryParameter } from '../route.js';

export const ENVIRONMENT_PARAMETER: QueryParameter = {
  name: 'environment',
  description: 'The environment, where no token names it; the one of the instance when absent.',
  schema: () => ({ type: 'string' }),
};

/** What a client may narrow its view by. */
export const VIEW_PARAMETERS: readonly QueryParameter[] = [
  ENVIRONMENT_PARAMETER,
  {
    name: 'project',
    description: 'Only flags of these projects, within what the token admits to; all when absent.',
    schema: () => ({ type: 'array', items: { type: 'string', maxLength: 100 }, maxItems: 100 }),
  },
  {
    name: 'namePrefix',
    description: 'Only flags whose names begin so.',
    schema: () => ({ type: 'string', maxLength: 100 }),
  },
];
