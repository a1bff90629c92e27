/** How to make reviewed changes: at once, or by a change request, which waits for a time or for people. */
export type Way = 'now' | 'later' | 'request';

interface Possibilities {
  readonly needsApproval: boolean;
  /** Whether the service applies requests at a time. */
  readonly acceptsTimes: boolean;
  readonly canRequest: boolean;
  /** Whether the caller may make the changes at once, without a look at approvals. */
  readonly mayApply: boolean;
  /** Whether the caller may do without the approval. */
  readonly mayBypass: boolean;
  /** Whether the changes replace those of another request. */
  readonly isReplacement: boolean;
}

/** Returns the ways that a caller has, the default first. Empty if the caller may neither apply nor request the changes. */
export function waysOf(possibilities: Possibilities): readonly Way[] {
  const { needsApproval, acceptsTimes, canRequest, mayApply, mayBypass, isReplacement } = possibilities;
  const now: readonly Way[] = mayApply && !isReplacement && (!needsApproval || mayBypass) ? ['now'] : [];
  const later: readonly Way[] = canRequest && acceptsTimes && mayApply ? ['later'] : [];
  const request: readonly Way[] = canRequest ? ['request'] : [];
  return needsApproval || isReplacement ? [...request, ...later, ...now] : [...now, ...later, ...request];
}
