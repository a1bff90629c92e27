import { useMemo } from 'preact/hooks';
import { ALL, useOpenRequests } from './change-requests.js';
import { useRollouts } from './rollouts.js';

/** The rollouts and requests of a flag, for its marks in lists. */
export interface FlagMarks {
  /** The environments in which it rolls out; undefined: nowhere. */
  readonly rollsOutIn?: string;
  /** The environments of its requests, maybe empty; undefined: there is none. */
  readonly requestedIn?: string;
}

/** Returns the marks of flags by their names, which are unique in all projects. */
export function useFlagMarks(isAsked: boolean): ReadonlyMap<string, FlagMarks> {
  // The navigation reads the same lists.
  const requests = useOpenRequests(isAsked ? ALL : undefined).data;
  const rollouts = useRollouts(isAsked ? ALL : undefined).data;
  return useMemo(() => {
    const rolling = placesOf((rollouts ?? []).map(({ ref }) => [ref.flag, [ref.environment]]));
    const requested = placesOf(
      (requests ?? []).flatMap(({ flags, environments }) => flags.map(({ flag }) => [flag, environments] as const)),
    );
    const marks = [...rolling.keys(), ...requested.keys()].map((flag) => {
      const [rollsOutIn, requestedIn] = [rolling.get(flag), requested.get(flag)];
      return [
        flag,
        {
          ...(rollsOutIn && { rollsOutIn: [...rollsOutIn].join(', ') }),
          ...(requestedIn && { requestedIn: [...requestedIn].join(', ') }),
        },
      ] as const;
    });
    return new Map(marks);
  }, [requests, rollouts]);
}

function placesOf(
  pairs: readonly (readonly [flag: string, environments: readonly string[]])[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const places = new Map<string, Set<string>>();
  for (const [flag, environments] of pairs) {
    places.set(flag, new Set([...(places.get(flag) ?? []), ...environments]));
  }
  return places;
}
