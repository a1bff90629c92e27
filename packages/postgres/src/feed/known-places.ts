/**
 * What a node knows of the places in the feed: where they come from, and the newest that it has seen. By that a commit tells
 * without a look at the table that its own place is behind all others.
 */
export interface KnownPlaces {
  /** A place that an event has. */
  see(place: string): void;
  /** Takes what is known now, for a commit that begins now. Gives what tells whether its place must be looked at. */
  begin(): (commit: PlacedCommit) => boolean;
  /** All is well with the places of this source. */
  trust(commit: PlacedCommit): void;
}

export interface PlacedCommit {
  /** Where the place comes from; undefined where it cannot be wrong. */
  readonly source: string | undefined;
  /** Undefined where the commit has no event. */
  readonly place: string | undefined;
}

export function createKnownPlaces(): KnownPlaces {
  let trusted: string | undefined;
  let newest = -1n;

  function see(place: string): void {
    const seen = BigInt(place);
    if (seen > newest) newest = seen;
  }

  return {
    see,
    begin() {
      const before = newest;
      return ({ source, place }) =>
        source !== undefined && place !== undefined && (source !== trusted || BigInt(place) <= before);
    },
    trust({ source, place }) {
      trusted = source;
      // A server that has taken over may not have heard of the newest.
      newest = BigInt(place ?? newest);
    },
  };
}
