import { useMemo } from 'preact/hooks';
import { useOpenRequests } from './change-requests.js';
import { useRollouts } from './rollouts.js';

/** What waits or goes on for a flag. */
export interface FlagMarks {
  /** The environments in which it rolls out; undefined: nowhere. */
  readonly rollsOutIn?: string;
  /** The environments of its requests, maybe empty; undefined: there is none. */
  readonly requestedIn?: string;
}

/** Returns the marks of the flags of a project, or of all projects (`''`), by the names of the flags. */
export function useFlagMarks(project: string, isAsked: boolean): ReadonlyMap<string, FlagMarks> {
  const filter = { project: project || undefined };
  const requests = useOpenRequests(isAsked ? filter : undefined).data;
  const rollouts = useRollouts(isAsked ? filter : undefined).data;
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
