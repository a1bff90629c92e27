import { nextTurn } from '../../base/paced.js';
import type { SumQuery, UsageKey, UsageKeys, UsageStorage, UsageSum } from '../../storage/usage/port.js';

type PagedQuery<Key extends UsageKey> = SumQuery<Key> & { readonly limit: number };

/** Iterates over the pages of a query. Lets other work run between them. */
export async function* sumPages<Key extends UsageKey>(
  usage: UsageStorage,
  query: PagedQuery<Key>,
): AsyncGenerator<readonly UsageSum<Key>[]> {
  let page = await usage.sum(query);
  for (;;) {
    yield page;
    const after = page.at(-1);
    if (!after || page.length < query.limit) return;
    await nextTurn();
    page = await usage.sum({ ...query, after: after as Partial<UsageKeys> });
  }
}

/** Iterates over all sums of a query, page by page. */
export async function* iterateSums<Key extends UsageKey>(
  usage: UsageStorage,
  query: PagedQuery<Key>,
): AsyncGenerator<UsageSum<Key>> {
  for await (const page of sumPages(usage, query)) yield* page;
}
