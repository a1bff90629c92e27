import type { JsonSchema } from '@flags/core/integration';
import { unchecked } from '../body.js';
import type { QueryParameter, QueryValues } from '../route.js';

/** The only type of tag, which every Unleash 4.x server has: its tags are the labels. */
export const SIMPLE = 'simple';

const MAX_TAGS = 20;

const tag: JsonSchema = {
  type: 'string',
  pattern: '^\\w+:',
  maxLength: 200,
  description: 'type:value, as in simple:team-shop',
};

/** The query parameter that selects flags by tags. */
export const TAG_PARAMETER: QueryParameter = {
  name: 'tag',
  description: 'Only flags that have one of these tags, each as type:value.',
  schema: () => ({ type: 'array', items: tag, maxItems: MAX_TAGS }),
};

/**
 * Returns the labels that the tags in a query name; undefined without tags. The label of a tag of another type is the
 * whole tag, as imports from Unleash make it.
 */
export function labelsInQuery({ tag: tags }: QueryValues): readonly string[] | undefined {
  if (tags === undefined) return undefined;
  const prefix = `${SIMPLE}:`;
  const labels = unchecked<readonly string[]>(tags).map((one) =>
    one.startsWith(prefix) ? one.slice(prefix.length) : one,
  );
  return [...new Set(labels)].sort();
}
