import timers from 'node:timers';
import { FlagsError, type FlagsEvent } from '@flags/core';

/** The id of a project member (an integer), or the name of an actor in the event log (a string). */
export type UserId = number | string;

/** How your application shows a user. */
export interface UserDescription {
  /** A longer name is cut to 200 characters. */
  readonly name: string;
  /** The address of a picture, of at most 500 characters; a longer one is left out. */
  readonly image?: string | null | undefined;
}

/** Descriptions by id. Users without a description are absent, null or undefined. */
export type UserDescriptions =
  | ReadonlyMap<UserId, UserDescription | null | undefined>
  | readonly (({ readonly id?: UserId } & UserDescription) | null | undefined)[]
  | Readonly<Record<string, UserDescription | null | undefined>>;

/**
 * Returns the names and pictures of users: a map, an object by id, or a list whose items have an `id` or are in the order
 * of the ids. The ids are distinct. Cache the users here: the API does not.
 */
export type DescribeUsers = (ids: readonly UserId[]) => UserDescriptions | Promise<UserDescriptions>;

/** The original timers: a host may fake them in its tests. */
const { setTimeout, clearTimeout } = timers;

/** The time limit of a call, in milliseconds. */
const TIME_LIMIT = 2000;
const NAME_LENGTH = 200;
const IMAGE_LENGTH = 500;

/** A description in replies. */
export interface ShownUser {
  readonly name: string;
  readonly image?: string;
}

/** Resolves to the known users. */
export type FindUsers = (ids: Iterable<UserId>) => Promise<ReadonlyMap<UserId, ShownUser>>;

type Report = (error: FlagsError) => void;

/**
 * Creates the lookup of one request, which calls the host's function once per user. It reports a failure, and does not
 * reject: the users of that call are absent, and the request makes no further call.
 */
export function createUserLookup(describeUsers: DescribeUsers, report: Report): FindUsers {
  const asked = new Set<UserId>();
  const shown = new Map<UserId, ShownUser>();
  let hasFailed = false;

  async function load(ids: readonly UserId[]): Promise<void> {
    try {
      const find = finderIn(await withTimeLimit(async () => describeUsers(ids)), ids);
      const found = ids.map((id) => [id, toShownUser(find(id))] as const);
      for (const [id, user] of found) if (user) shown.set(id, user);
    } catch (error) {
      hasFailed = true;
      const message = 'describeUsers has failed, so this reply shows users without their names.';
      report(new FlagsError('user_lookup_failed', message, undefined, { cause: error }));
    }
  }

  return async (ids) => {
    const wanted = [...new Set(ids)].filter((id) => !asked.has(id));
    for (const id of wanted) asked.add(id);
    if (wanted.length > 0 && !hasFailed) await load(wanted);
    return shown;
  };
}

async function withTimeLimit<T>(call: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`describeUsers took more than ${TIME_LIMIT} ms.`)), TIME_LIMIT);
  });
  try {
    return await Promise.race([call(), limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns a function that finds a user's description in a result of the host. */
function finderIn(answer: UserDescriptions, ids: readonly UserId[]): (id: UserId) => unknown {
  if (typeof answer !== 'object' || answer === null) {
    throw new TypeError('describeUsers must return a map, a list or an object of descriptions.');
  }
  if (Array.isArray(answer)) {
    const found = new Map(answer.map((item, index) => [Object(item).id ?? ids[index], item]));
    return (id) => found.get(id);
  }
  // `instanceof` fails for a Map from another realm.
  const { get } = answer as Partial<ReadonlyMap<UserId, unknown>>;
  if (typeof get === 'function') return (id) => get.call(answer, id);
  return (id) => (Object.hasOwn(answer, id) ? (answer as Readonly<Record<UserId, unknown>>)[id] : undefined);
}

function toShownUser(description: unknown): ShownUser | undefined {
  if (description === null || description === undefined) return undefined;
  const { name, image } = Object(description) as { readonly name?: unknown; readonly image?: unknown };
  if (typeof name !== 'string') throw new TypeError('describeUsers must return a name for every user.');
  const isShown = typeof image === 'string' && image !== '' && image.length <= IMAGE_LENGTH;
  return { name: name.slice(0, NAME_LENGTH), ...(isShown && { image }) };
}

type Act = Pick<FlagsEvent, 'actor' | 'actorTokenId'>;

/** Returns the member that shows the user of an event; no member for an API token and for an unknown user. */
type UserOf = (event: Act | undefined) => { readonly user?: ShownUser };

/** Asks the host for the names and pictures of the actors of events. API tokens are not users. */
export async function describeActors(describeUsers: FindUsers | undefined, events: readonly Act[]): Promise<UserOf> {
  const names = events.flatMap(({ actor, actorTokenId }) => (actorTokenId === null ? actor : []));
  const users = await describeUsers?.(new Set(names));
  return (event) => {
    const user = event && event.actorTokenId === null ? users?.get(event.actor) : undefined;
    return user ? { user } : {};
  };
}
