import type { Awaitable, FlagRef } from '../../base/common.types.js';
import { FlagsError } from '../../base/errors.js';
import { invalidInput, type Validator } from '../../base/validator.js';
import type { Actor, Engine, PreparedChange, UnitOfWork } from '../../kernel/engine.js';
import type { Read, Versioned } from '../../storage/document-reader.js';
import { assertNoFaults, type ConstraintsOf, newFaults, type PathOf } from './faults.js';
import { dependencyEdges, edgeId, type FlagState, segmentsOf } from './flag.js';
import {
  evolveFlag,
  type FlagEvent,
  findFlag,
  flagDocuments,
  mayGrow,
  mayRefer,
  referredSegments,
  throwFlagNotFound,
} from './flag.kind.js';
import type { FlagChanges } from './flag.types.js';
import type { FlagQuery } from './flag-search.types.js';
import type { LiveChildren } from './live-children.js';
import { withEndedRollouts } from './rollouts.decide.js';
import type { StrategyInput } from './strategy.types.js';

/** What operations of flags need beside the rest of the engine. */
export interface FlagEngine extends Engine {
  readonly children: LiveChildren;
  readonly validate: {
    readonly flagChanges: Validator<FlagChanges>;
    readonly flagQuery: Validator<FlagQuery>;
    readonly strategy: Validator<StrategyInput<string>>;
  };
}

/**
 * Applies events to a flag, ends the rollouts that they end, updates the index of children, and touches newly referenced segments and parents. A
 * concurrent change then conflicts, and is decided again, if it deletes such a segment, archives such a parent, or
 * gives such a parent a dependency.
 */
export function applyToFlag(
  unit: UnitOfWork,
  { name, before }: { readonly name: string; readonly before: FlagState | undefined },
  decided: readonly FlagEvent[],
): Awaitable<void> {
  const events = withEndedRollouts(before, decided);
  if (!events.some(mayRefer)) return unit.apply(flagDocuments, name, events);
  return applyWithReferences(unit, name, events);
}

async function applyWithReferences(unit: UnitOfWork, name: string, events: readonly FlagEvent[]): Promise<void> {
  const before = (await unit.read(flagDocuments, name))?.state;
  await unit.apply(flagDocuments, name, events);
  const after = (await unit.read(flagDocuments, name))?.state;
  const hasMoved = before !== undefined && after !== undefined && before.project !== after.project;
  const [from, to] = [referencesOf(before), referencesOf(after)];
  const newParents = without(to.parents, from.parents);
  // A segment may belong to the old project: the flag must not keep it in the new one.
  const newSegments = hasMoved ? to.segments : without(to.segments, from.segments);
  await Promise.all([
    ...newSegments.map((segment) => unit.touch(referredSegments, `${segment}`)),
    ...newParents.map((parent) => unit.touch(flagDocuments, parent)),
    ...newParents.map((parent) => unit.put(dependencyEdges, edgeId({ parent, child: name }), { parent, child: name })),
    ...without(from.parents, to.parents).map((parent) => unit.remove(dependencyEdges, edgeId({ parent, child: name }))),
  ]);
}

interface References {
  readonly segments: readonly number[];
  readonly parents: readonly string[];
}

function referencesOf(flag: FlagState | undefined): References {
  if (!flag) return { segments: [], parents: [] };
  return { segments: segmentsOf(flag), parents: flag.dependencies.map((dependency) => dependency.flag) };
}

function without<T>(items: readonly T[], others: readonly T[]): readonly T[] {
  return items.filter((item) => !others.includes(item));
}

export interface FlagChange<Result> {
  /** Returns the events of a change to the flag of the reference. */
  readonly decide: (flag: FlagState, unit: UnitOfWork, context: Actor) => Awaitable<readonly FlagEvent[]>;
  /** Returns the result of the change from the flag after the commit. */
  readonly result: (changed: Versioned<FlagState>) => Result;
  /** Returns the place of a strategy in the input, as a JSON Pointer. Default: the whole input */
  readonly pathOf?: PathOf;
}

export interface FlagEdit<Result> extends FlagChange<Result> {
  /** Returns the constraints of a segment, for changes of strategies. */
  readonly constraintsOf?: (unit: UnitOfWork) => ConstraintsOf;
  /** Further checks, after those of `newFaults`. */
  readonly check?: (change: DecidedChange, unit: UnitOfWork) => Awaitable<void>;
}

export interface DecidedChange {
  readonly before: FlagState;
  readonly after: FlagState;
  readonly events: readonly FlagEvent[];
}

/** Prepares a change of an existing flag of the project that the reference names. */
export function changeFlag<Result>(
  ref: FlagRef,
  { decide, result, pathOf }: FlagChange<Result>,
): PreparedChange<Result> {
  return {
    subject: { kind: flagDocuments.kind, id: ref.flag },
    async decide(unit, context) {
      const { state } = await findFlag(unit.read, ref);
      const deciding = decide(state, unit, context);
      const events: readonly FlagEvent[] = deciding instanceof Promise ? await deciding : deciding;
      if (events.some(mayRefer)) await assertSegmentsUsable(unit.read, { project: state.project, events, pathOf });
      const applying = applyToFlag(unit, { name: state.name, before: state }, events);
      if (applying) await applying;
    },
    result: async ({ read }) => result((await read(flagDocuments, ref.flag)) ?? throwFlagNotFound(ref.flag)),
  };
}

/** Prepares a change with content of the caller, which must not have new faults. A rollback only restores content. */
export function editFlag<Result>(
  ref: FlagRef,
  { decide, constraintsOf, check, ...change }: FlagEdit<Result>,
): PreparedChange<Result> {
  return changeFlag(ref, {
    ...change,
    async decide(flag, unit, context) {
      const events = await decide(flag, unit, context);
      if (!events.some(mayGrow)) return events;
      const after = events.reduce<FlagState | undefined>(evolveFlag, flag) ?? flag;
      assertNoFaults(newFaults(flag, after, constraintsOf?.(unit)), change.pathOf);
      await check?.({ before: flag, after, events }, unit);
      return events;
    },
  });
}

interface SegmentUses {
  /** The flag's project. */
  readonly project: string;
  readonly events: readonly FlagEvent[];
  /** Returns the place of a strategy in the input, as a JSON Pointer. Default: the whole input */
  readonly pathOf?: PathOf | undefined;
}

/** Refuses segments of other projects in new and changed strategies. */
export async function assertSegmentsUsable(
  read: Read,
  { project, events, pathOf = () => '' }: SegmentUses,
): Promise<void> {
  for (const event of events) {
    if (!isStrategyChange(event)) continue;
    for (const [index, segment] of (event.data.segments ?? []).entries()) {
      const owner = (await read(referredSegments, `${segment}`))?.state.project ?? project;
      const path = `${pathOf(event.data)}/segments/${index}`;
      if (owner !== project) throw segmentNotUsable(segment, path);
    }
  }
}

/** Returns the segments that strategies start to use. */
export function newSegmentsOf(event: FlagEvent): readonly number[] {
  if (event.type === 'flag-created') return segmentsOf(event.data);
  if (!isStrategyChange(event)) return [];
  const known = new Set(event.before?.segments);
  return [...new Set(event.data.segments)].filter((segment) => !known.has(segment));
}

function isStrategyChange(
  event: FlagEvent,
): event is Extract<FlagEvent, { readonly type: 'strategy-added' | 'strategy-updated' }> {
  return event.type === 'strategy-added' || event.type === 'strategy-updated';
}

/** Refuses to move a flag that uses segments which flags of the other project cannot use. */
export async function assertSegmentsMovable(read: Read, flag: FlagState, project: string): Promise<void> {
  for (const segment of segmentsOf(flag)) {
    const owner = (await read(referredSegments, `${segment}`))?.state.project ?? project;
    if (owner === project) continue;
    const message = `The flag ${flag.name} uses the segment ${segment}, which flags of the project ${project} cannot use; remove it from the strategies first.`;
    throw new FlagsError('segment_in_use', message);
  }
}

/** The message does not reveal whether the segment exists, or its project. */
function segmentNotUsable(segment: number, path: string): Error {
  return invalidInput([{ message: `names the segment ${segment}, which flags of this project cannot use`, path }]);
}
