import type { Flags, ListPage, PageQuery } from '@flags/core';
import type { JsonSchema } from '@flags/core/integration/shared';
import type { Action } from '../actions.js';
import { createProjectFilter, type ProjectFilter } from '../auth/permissions.js';
import { jsonArray } from '../messages/json.js';
import { unchecked } from '../messages/request.js';
import { example, objectComponent, version } from '../messages/schema.js';
import { inputParameters, LONG_READ, parameter } from './query.js';
import { type Route, route } from './route.js';

export const PAGE = inputParameters('pageQuery', {
  limit:
    'Maximum number of items on a page, which is also limited to 1 MiB. Default: 100. The `Link` header has the next page.',
  after: 'Position after which the page starts: `next` of the previous response.',
});

interface ReadableList<Item, Query, Name extends Action> {
  readonly path: string;
  readonly action: Name;
  readonly summary: string;
  /** The name of the reply's schema. */
  readonly component: string;
  /** The member of the reply with the items. */
  readonly member: string;
  /** What the descriptions of the parameters call the items. */
  readonly noun: string;
  readonly states: readonly string[];
  readonly item: JsonSchema;
  readonly list: (
    flags: Flags,
    query: Query,
    options: { readonly page: PageQuery; readonly canRead: (item: Item) => Promise<boolean> },
  ) => Promise<ListPage<Item>>;
  readonly canRead: (flags: Flags, item: Item, maySee: ProjectFilter) => Promise<boolean>;
  readonly toWire: (item: Item) => unknown;
}

/** Returns the route of a list, page by page, of what the caller may read. */
export function readableListRoute<Item, Query, const Name extends Action>(
  of: ReadableList<Item, Query, Name>,
): Route<Name> {
  const { path, action, summary, member, noun } = of;
  return route('GET', path, action, {
    permissionIn: 'anyProject',
    summary,
    query: [
      parameter('state', `Only ${noun} in this state.`, example(of.states[0], { type: 'string', enum: of.states })),
      parameter('project', `Only ${noun} about this project.`),
      parameter('flag', `Only ${noun} about this flag.`),
      ...PAGE,
    ],
    paged: 'always',
    long: LONG_READ,
    reply: objectComponent(
      of.component,
      { version, [member]: { type: 'array', items: of.item } },
      { next: { type: 'string', description: '`after` of the next page; absent on the last one.' } },
    ),
    async handle({ flags, principal, query }) {
      const { limit = 100, after, ...selected } = unchecked<PageQuery>(query);
      const maySee = createProjectFilter(principal, action);
      const canRead = (item: Item) => of.canRead(flags, item, maySee);
      const { items, next } = await of.list(flags, unchecked<Query>(selected), { page: { limit, after }, canRead });
      const body = { version: 1, [member]: jsonArray(items, of.toWire), next };
      return { body, next: next === undefined ? undefined : { after: next } };
    },
  });
}
