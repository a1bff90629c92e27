import { hash } from 'node:crypto';
import { compareCodePoints } from '../base/collections.js';
import { paced } from '../base/paced.js';
import { compareVisibility, createVisibility, type StoredSide, shownConstraints } from '../flags/effect.decide.js';
import type { FlagEffect } from '../flags/effect.types.js';
import { type FlagState, flagDocuments } from '../flags/flag.js';
import { type SegmentState, segmentDocuments } from '../segments/segment.js';
import type { Change, ChangePlan, PlannedDocument } from './change-set.types.js';
import { planDocuments } from './change-sets.operations.js';
import type { ChangeEngine } from './engine.js';
import { affectedFlags, type PlannedState, type Side, type States, statesOf } from './preview.operations.js';

export async function plan(engine: ChangeEngine, changes: readonly Change[]): Promise<ChangePlan> {
  return withEffects(engine, await planDocuments(engine, changes));
}

export async function withEffects(engine: ChangeEngine, documents: readonly PlannedDocument[]): Promise<ChangePlan> {
  return { documents, effects: await effectsOf(engine, documents) };
}

/** Returns the effects of planned documents: the changes that clients of each environment would see. */
export async function effectsOf(
  engine: ChangeEngine,
  documents: readonly PlannedState[],
): Promise<readonly FlagEffect[]> {
  if (!documents.some(({ kind }) => KINDS.has(kind))) return [];
  // The plan has not read parents, children and uses of segments: other processes may have changed them.
  const status = await engine.replica.poller.refresh();
  if (status.state === 'stale') throw status.error;
  const states = statesOf(engine, documents);
  const names = [...(await affectedFlags(states))].sort(compareCodePoints);
  const flags = names.map((name) => ({ name, before: states.flag(name, 'before'), after: states.flag(name, 'after') }));
  const sides = await createSides(engine, states, flags);
  const effects: FlagEffect[] = [];
  for (const environment of await environmentsOf(states, flags)) {
    const seen = {
      before: createVisibility(environment, sides.before),
      after: createVisibility(environment, sides.after),
    };
    for await (const { name, before, after } of paced(flags)) {
      for (const side of SIDES) {
        for await (const parent of paced(parentsOf({ before, after }[side]))) seen[side](parent);
      }
      // A flag that moves becomes absent in one project, and appears in the other.
      for (const project of new Set([before, after].flatMap((state) => state?.project ?? []))) {
        const effect = compareVisibility(
          before?.project === project ? seen.before(name) : ABSENT,
          after?.project === project ? seen.after(name) : ABSENT,
        );
        if (effect) effects.push({ project, flag: name, environment, ...effect });
      }
    }
  }
  return effects;
}

/** The kinds of documents that clients can see. */
const KINDS: ReadonlySet<string> = new Set([flagDocuments.kind, segmentDocuments.kind]);
const ABSENT = { state: 'absent' } as const;
const SIDES = ['before', 'after'] as const;

function parentsOf(flag: FlagState | undefined): readonly string[] {
  return flag?.dependencies?.map((dependency) => dependency.flag) ?? [];
}

/** A flag on both sides; undefined where it is absent or archived. */
interface AffectedFlag {
  readonly name: string;
  readonly before: FlagState | undefined;
  readonly after: FlagState | undefined;
}

/**
 * Returns the environments that stored flags configure, in code-point order. The settings of this node may lack some of
 * them.
 */
async function environmentsOf(states: States, flags: readonly AffectedFlag[]): Promise<readonly string[]> {
  const names = new Set<string>();
  const concerned = flags.flatMap(({ before, after }) => [before ?? [], after ?? []].flat());
  for await (const { archived, environments = [] } of paced([...concerned, ...states.stored.values()])) {
    if (archived) continue;
    for (const { name, enabled, strategies } of environments) if (enabled || strategies.length > 0) names.add(name);
  }
  return [...names].sort(compareCodePoints);
}

/** Creates both sides. Digests the segments of the flags and their parents in slices: together they may be large. */
async function createSides(
  { replica }: ChangeEngine,
  states: States,
  flags: readonly AffectedFlag[],
): Promise<Readonly<Record<Side, StoredSide>>> {
  const planned = new Map(states.changedSegments.map((one) => [one.id, one]));
  const digests = new Map<SegmentState, string>();

  function createSide(side: Side): StoredSide {
    return {
      flag: (name) => states.flag(name, side),
      segment(id) {
        const key = String(id);
        const document = planned.get(key);
        const state = (document ? document[side] : replica.documents.segments.get(key)) as
          | SegmentState
          | null
          | undefined;
        if (!state) return null;
        const known = digests.get(state) ?? digest(JSON.stringify(shownConstraints(state.constraints)));
        digests.set(state, known);
        return known;
      },
      digest,
    };
  }

  const sides = { before: createSide('before'), after: createSide('after') };
  for (const side of SIDES) {
    const names = new Set(flags.flatMap(({ name, [side]: flag }) => [name, ...parentsOf(flag)]));
    for (const name of names) {
      for (const { strategies } of states.flag(name, side)?.environments ?? []) {
        const ids = strategies.flatMap(({ segments = [] }) => segments);
        for await (const id of paced(ids)) sides[side].segment(id);
      }
    }
  }
  return sides;
}

function digest(text: string): string {
  return hash('sha256', text, 'base64');
}
