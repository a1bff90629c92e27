import { mergeStates } from '../base/parts.js';
import { type FlagState, inFull } from '../flags/flag.js';
import type { ProjectState } from '../projects/project.js';
import type { SegmentState } from '../segments/segment.js';

/** The states of a document around a change set, and the current one. Undefined: no document. */
export interface Versions<State> {
  readonly before: State | undefined;
  readonly after: State | undefined;
  readonly now: State | undefined;
}

/** The state without a change set, with all later changes of other parts. */
export interface MergedVersions<State> {
  readonly target: State | undefined;
  /** JSON Pointers to the parts that the set changed, and that have changed again since. Empty text: the document. */
  readonly conflicts: readonly string[];
}

/** The parts that an undo restores as a whole. */
const WHOLE = /^\/(variants|dependencies|constraints|members\/[^/]+|environments\/[^/]+\/strategies\/[^/]+)$/;

/** Merges a flag: restores the parts that the set has changed, and keeps all others. */
export function mergeFlag({ before, after, now }: Versions<FlagState>): MergedVersions<FlagState> {
  const names = [before, now, after].flatMap((flag) => flag?.environments.map(({ name }) => name) ?? []);
  const toParts = (flag: FlagState | undefined) => flag && withArchiving(inFull(flag, names));
  const versions = { before: toParts(before), after: toParts(after), now: toParts(now) };
  const { target, conflicts } = mergeVersions(versions);
  if (!target || target === versions.before) return { target: target && before, conflicts };
  return { target: target === versions.now ? now : toFlag(target), conflicts };
}

/** A flag whose archiving is one part: false, or its time, or true if the time is unknown. */
interface FlagParts extends Omit<FlagState, 'archived' | 'archivedAt'> {
  readonly archived: boolean | string;
}

function withArchiving({ archivedAt, ...flag }: FlagState): FlagParts {
  return { ...flag, archived: flag.archived && (archivedAt ?? true) };
}

function toFlag({ archived, environments, ...flag }: FlagParts): FlagState {
  return {
    ...flag,
    archived: archived !== false,
    ...(typeof archived === 'string' && { archivedAt: archived }),
    // `enabled` implies a strategy, as after the removal of the last one.
    environments: environments.map((one) => ({ ...one, enabled: one.enabled && one.strategies.length > 0 })),
  };
}

/** Merges documents as {@link mergeFlag} does. A document that was deleted and created again is merged as a whole. */
export function mergeVersions<State extends Pick<ProjectState | SegmentState | FlagState, 'createdAt'>>({
  before,
  after,
  now,
}: Versions<State>): MergedVersions<State> {
  const isOne = new Set([before, after, now].map((version) => version?.createdAt)).size === 1;
  const { result, conflicts, agreed, reordered } = mergeStates(
    { base: after, theirs: now, mine: before },
    { isWhole: (path) => !isOne || WHOLE.test(path) },
  );
  // A later change to the earlier value is a conflict too.
  return { target: result, conflicts: [...conflicts.map(({ path }) => path), ...agreed, ...reordered] };
}
