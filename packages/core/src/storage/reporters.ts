import { LIMITS } from '../base/limits.js';
import type { Reporter } from './metrics-port.js';

/** Returns how many applications may belong to a reporter. */
export function applicationLimit(reporter: Reporter | undefined): number {
  if (reporter === undefined) return LIMITS.applications;
  return reporter.isPublic ? LIMITS.applicationsPerFrontendToken : LIMITS.applicationsPerToken;
}

/** Returns those of public reporters last, so that they take only the room that the others leave. */
export function publicLast<Reported extends { readonly reporter?: Reporter }>(all: readonly Reported[]): Reported[] {
  return [...all.filter(({ reporter }) => !reporter?.isPublic), ...all.filter(({ reporter }) => reporter?.isPublic)];
}

/** Returns to which of two reporters an application belongs: to the first, unless only the second is not public. */
export function ownerOf(first: Reporter | undefined, second: Reporter | undefined): Reporter | undefined {
  return first?.isPublic && !second?.isPublic ? second : first;
}
