import { loadPatternsFor } from '../../evaluation/load-patterns.js';
import type { Documents, KeyedUpdate } from '../../storage/documents.js';
import type { EnvironmentState, FlagState } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag.kind.js';
import type { SegmentState } from '../segments/segment.js';
import { segmentDocuments } from '../segments/segment.kind.js';

/** Flags and segments that are about to be evaluated. */
interface EvaluatedStates {
  readonly flags: ReadonlyMap<string, FlagState>;
  readonly segments: ReadonlyMap<string, SegmentState>;
}

/** Loads RE2 if any of the documents has a pattern. Returns undefined if there is nothing to wait for. */
export function preparePatterns({ flags, segments }: EvaluatedStates): Promise<unknown> | undefined {
  return loadPatternsFor({ flags: environmentsOf(flags.values()), segments: segments.values() });
}

/** Like {@link preparePatterns}, for documents of any kind that are about to be in memory. */
export function preparePatternsIn(updates: readonly KeyedUpdate[]): Promise<unknown> | undefined {
  return loadPatternsFor({
    flags: environmentsOf(statesIn(updates, flagDocuments)),
    segments: statesIn(updates, segmentDocuments),
  });
}

// Generators, because nothing is read once RE2 is loaded.

function* environmentsOf(flags: Iterable<FlagState>): Generator<EnvironmentState> {
  for (const { environments } of flags) yield* environments;
}

function* statesIn<State>(updates: readonly KeyedUpdate[], { kind }: Documents<State>): Generator<State> {
  for (const { key, update } of updates)
    if (key.kind === kind && update.state !== undefined) yield update.state as State;
}
