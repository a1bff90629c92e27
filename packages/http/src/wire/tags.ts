/** The only type of tag, which every Unleash 4.x server has: its tags are the labels. */
export const SIMPLE = 'simple';

/**
 * Returns the labels that the tags in a query name; undefined without tags. The label of a tag of another type is the
 * whole tag, as imports from Unleash make it.
 */
export function labelsInQuery(query: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const { tag: tags } = query as { readonly tag?: readonly string[] };
  if (tags === undefined) return undefined;
  const prefix = `${SIMPLE}:`;
  const labels = tags.map((tag) => (tag.startsWith(prefix) ? tag.slice(prefix.length) : tag));
  return [...new Set(labels)].sort();
}
