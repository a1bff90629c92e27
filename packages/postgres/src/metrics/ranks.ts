/** So many names may be reported in one millisecond. */
const PER_MILLISECOND = 1000;

/** The least rank of a name that was reported at a time. */
export function rankOf(at: number): number {
  return at * PER_MILLISECOND;
}

/** Gives every reported name a greater rank than the one before, so that the most recent of one moment are known too. */
export function createRanks(): (at: number) => number {
  let latest = 0;
  return (at) => {
    latest = Math.max(latest + 1, rankOf(at));
    return latest;
  };
}
