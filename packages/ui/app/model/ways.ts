/** How to make reviewed changes: at once, at a time, or by a proposal that others approve. */
export type Way = 'now' | 'later' | 'propose';

interface Possibilities {
  readonly needsApproval: boolean;
  readonly canSchedule: boolean;
  readonly canPropose: boolean;
  /** Whether the caller may do without the approval. */
  readonly mayBypass: boolean;
}

/** Returns the ways that a caller has, the default first. None: the changes need an approval that the caller cannot ask for. */
export function waysOf({ needsApproval, canSchedule, canPropose, mayBypass }: Possibilities): readonly Way[] {
  const direct: readonly Way[] = canSchedule ? ['now', 'later'] : ['now'];
  if (!needsApproval) return direct;
  return [...(canPropose ? (['propose'] as const) : []), ...(mayBypass ? direct : [])];
}
