import type { FlagRef, Flags, ListPage, PageQuery } from '@flags/core';
import type { JsonSchema } from '@flags/core/integration';
import { parameter } from '../api/query.js';
import { type Route, type RouteRequest, route } from '../api/route.js';
import { createProjectFilter, isPermitted } from '../auth/permissions.js';
import type { Action } from '../auth/roles.js';
import { areAll } from '../events/event-filter.js';
import { jsonArray } from '../messages/json.js';
import { unchecked } from '../messages/request.js';
import { PAGE } from './changes.js';

/*
 * Schedules, rollouts and proposals wait for something. Their lists and permissions have one form.
 */

export type Asker = Pick<RouteRequest, 'flags' | 'principal'>;

/** What a schedule or a proposal is about. */
interface Concerned {
  readonly projects: readonly (string | null)[];
  readonly flags: readonly FlagRef[];
}

/** Returns the projects of a schedule or a proposal when it was made, and the present ones of its flags. */
export function projectsOf(
  { flags }: Pick<Asker, 'flags'>,
  { projects, flags: concerned }: Concerned,
): ReadonlySet<string | null> {
  const present = concerned.map(({ flag }) => flags.projectOf({ flag }));
  return new Set([...projects, ...present.filter((project) => project !== undefined)]);
}

interface Reading {
  readonly projects: ReadonlySet<string | null>;
  /** The permission to read it. */
  readonly read: Action;
  /** The permission of the request. */
  readonly action: Action;
  readonly notFound: () => Error;
}

/** Throws unless the caller has the permission. What the caller may not read does not exist for that caller. */
export async function assertPermitted(
  { principal }: Pick<Asker, 'principal'>,
  { projects, read, action, notFound }: Reading,
): Promise<void> {
  if (!(await areAll(projects, (project) => isPermitted(principal, read, project)))) throw notFound();
  for (const project of projects) await principal.check(action, project);
}

interface ListOf<Item, Query> {
  readonly path: string;
  readonly action: Action;
  readonly summary: string;
  /** The member of the reply, and the word of the query parameters. */
  readonly items: string;
  readonly state: JsonSchema;
  readonly reply: JsonSchema;
  readonly projectsOf: (asker: Pick<Asker, 'flags'>, item: Item) => ReadonlySet<string | null>;
  readonly list: (
    flags: Flags,
    query: Query,
    options: { readonly page: PageQuery; readonly canRead: (item: Item) => Promise<boolean> },
  ) => Promise<ListPage<Item>>;
  readonly toWire: (item: Item) => unknown;
}

/** Returns the route of a list with what the caller may read. */
export function listRoute<Item, Query>(of: ListOf<Item, Query>): Route {
  const { path, action, summary, items: name, state, reply, list, toWire } = of;
  return route('GET', path, action, {
    permissionBy: 'anyProject',
    summary,
    query: [
      parameter('state', `Only ${name} in this state.`, state),
      parameter('project', `Only ${name} of this project, or with a flag that is there now.`),
      parameter('flag', `Only ${name} of this flag.`),
      ...PAGE,
    ],
    paged: 'always',
    heavy: 'read',
    waits: true,
    caching: { by: 'flags' },
    reply,
    async handle({ flags, principal, query }) {
      const { limit = 100, after, ...selected } = unchecked<PageQuery>(query);
      const maySee = createProjectFilter(principal, action);
      const canRead = (item: Item) => areAll(of.projectsOf({ flags }, item), maySee);
      const { items, next } = await list(flags, unchecked<Query>(selected), { page: { limit, after }, canRead });
      const body = { version: 1, [name]: jsonArray(items, toWire), next };
      return { body, next: next === undefined ? undefined : { after: next } };
    },
  });
}
