import type { FlagsEvent } from '@flags/core';
import type { RouteRequest } from '../route.js';
import type { ShownUser } from '../users.js';

type Act = Pick<FlagsEvent, 'actor' | 'actorTokenId'>;

/** The users among actors. */
export interface Actors {
  /** Returns the member that shows the user of an event; no member for an API token and for an unknown user. */
  userOf(event: Act | undefined): { readonly user?: ShownUser };
  /** All that {@link userOf} may return. It changes without a change of the stored data. */
  readonly audience: readonly string[];
}

/** Asks the host for the names and pictures of the actors of events. API tokens are no users. */
export async function describeActors(
  describeUsers: RouteRequest['describeUsers'],
  events: readonly Act[],
): Promise<Actors> {
  const names = events.flatMap(({ actor, actorTokenId }) => (actorTokenId === null ? actor : []));
  const users = await describeUsers?.(new Set(names));
  return {
    userOf(event) {
      const user = event && event.actorTokenId === null ? users?.get(event.actor) : undefined;
      return user ? { user } : {};
    },
    audience: [...(users ?? [])].map((entry) => JSON.stringify(entry)),
  };
}
