import timers from 'node:timers';
import { FlagsError, type FlagsEvent } from '@flags/core';
import { LRUCache } from 'lru-cache';

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
 * of the ids.
 */
export type DescribeUsers = (ids: readonly UserId[]) => UserDescriptions | Promise<UserDescriptions>;

/** The original timers: a host may fake them in its tests. */
const { setTimeout, clearTimeout } = timers;

/** The time limit of a call, in milliseconds. After it, a reply makes no further call. */
const TIME_LIMIT = 2000;
/** The pause after a failed call, in milliseconds. */
const PAUSE = 5000;
/** The maximum number of ids per call. */
const BATCH = 500;
/** The lifetime of a cached description, in milliseconds. */
const MAX_AGE = 60_000;
/** The maximum size of the cache, in estimated bytes. Evicts the least recently used descriptions. */
const CACHE_SIZE = 4 * 1024 * 1024;
const ENTRY_OVERHEAD = 200;
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
 * Creates a function that calls the host's function for batches of users, and caches the results for a minute. It reports
 * a failure of the host's function, and does not reject: the users of that call are absent.
 */
export function createUserLookup(describeUsers: DescribeUsers) {
  const cache = createUserCache();
  const pending = new Map<UserId, Promise<void>>();
  let pausedUntil = 0;

  async function load(ids: readonly UserId[], report: Report): Promise<void> {
    try {
      const answer = await withTimeLimit(async () => describeUsers(ids));
      const find = finderIn(answer, ids);
      for (const id of ids) cache.set(id, { user: toShownUser(find(id)) });
    } catch (error) {
      pausedUntil = Date.now() + PAUSE;
      const message = 'describeUsers has failed, so this reply shows users without their names.';
      report(new FlagsError('user_lookup_failed', message, undefined, { cause: error }));
    }
  }

  /** Starts a call, except shortly after a failure. Simultaneous requests share it. */
  async function loadOnce(ids: readonly UserId[], report: Report): Promise<void> {
    if (Date.now() < pausedUntil) return;
    const loading = load(ids, report).finally(() => {
      for (const id of ids) pending.delete(id);
    });
    for (const id of ids) pending.set(id, loading);
    await loading;
  }

  return async (ids: Iterable<UserId>, report: Report): Promise<ReadonlyMap<UserId, ShownUser>> => {
    const wanted = [...new Set(ids)];
    const shown = new Map<UserId, ShownUser>();
    const deadline = Date.now() + TIME_LIMIT;
    for (let first = 0; first < wanted.length; first += BATCH) {
      const batch = wanted.slice(first, first + BATCH);
      await Promise.all(batch.flatMap((id) => pending.get(id) ?? []));
      const missing = batch.filter((id) => !cache.has(id));
      if (missing.length > 0 && Date.now() < deadline) await loadOnce(missing, report);
      for (const id of batch) {
        const { user } = cache.get(id) ?? {};
        if (user) shown.set(id, user);
      }
    }
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

function createUserCache() {
  return new LRUCache<UserId, { readonly user: ShownUser | undefined }>({
    maxSize: CACHE_SIZE,
    sizeCalculation({ user }, id) {
      return ENTRY_OVERHEAD + 2 * (String(id).length + (user?.name.length ?? 0) + (user?.image?.length ?? 0));
    },
    ttl: MAX_AGE,
    // Reads the system clock each time, because the tests of a host could fake a timer.
    perf: Date,
    ttlResolution: 0,
  });
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
