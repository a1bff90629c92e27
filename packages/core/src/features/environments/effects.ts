import { createHash } from 'node:crypto';
import { compareCodePoints } from '../../base/collections.js';
import { canonicalJson, isSameJson } from '../../base/json.js';
import { memoize } from '../../base/memoize.js';
import { paced } from '../../base/paced.js';
import type { PlannedDocument } from '../../kernel/changes/change-set.types.js';
import { hashOf } from '../../kernel/changes/repetition.js';
import type { Engine } from '../../kernel/engine.js';
import {
  describeFlag,
  describeParent,
  describeSegment,
  effectBetween,
  type FlagDescription,
  type FlagEffect,
} from '../flags/effect.decide.js';
import { environmentOf, type FlagState } from '../flags/flag.js';
import { flagDocuments, isVisible } from '../flags/flag.kind.js';
import type { SegmentState } from '../segments/segment.js';
import { segmentDocuments } from '../segments/segment.kind.js';
import type { Replica } from './environments.js';

/*
 * What a change set changes for clients: for plans, for the gate of approvals, and for the digest of change requests.
 */

/** The flags and segments that a set does not change. */
export type EffectReplica = Pick<Replica, 'documents'>;

interface WithReplica extends Pick<Engine, 'memory'> {
  readonly replica: EffectReplica;
}

/** A document before or after the change set; null if there is none. */
export type Side = 'before' | 'after';
export type PlannedState = Pick<PlannedDocument, 'kind' | 'id' | Side>;

/** Returns the effects of planned documents: the changes that clients of each environment would see. */
export async function effectsOf(
  { replica, memory }: WithReplica,
  documents: readonly PlannedState[],
): Promise<readonly FlagEffect[]> {
  if (!documents.some(isVisible)) return [];
  // The plan has not read parents, children and uses of segments: other processes may have changed them.
  const status = await memory.refresh();
  if (status.state === 'stale') throw status.error;
  return findEffects(replica, documents);
}

interface EffectScope {
  /** Default: those that stored flags configure. */
  readonly environments?: readonly string[];
  /** Describes a strategy that rolls out by its steps in place of its percentage, as approvals do. Default: false. */
  readonly describesPlans?: boolean;
}

/** Returns the effects on the replica as it is. */
export async function findEffects(
  replica: EffectReplica,
  documents: readonly PlannedState[],
  { environments, describesPlans = false }: EffectScope = {},
): Promise<readonly FlagEffect[]> {
  const states = statesOf({ replica }, documents);
  const names = [...(await affectedFlags(states))].sort(compareCodePoints);
  const flags = names.map((name) => ({ name, before: states.flag(name, 'before'), after: states.flag(name, 'after') }));
  const segment = shareSame(segmentsIn(replica, states));
  // Each in a turn of its own: segments may be large.
  for await (const { id } of paced(states.changedSegments)) segment(Number(id), 'before');
  const effects: FlagEffect[] = [];
  for (const environment of environments ?? (await environmentsOf(states, flags))) {
    const describe = describeIn(environment, { states, segment, share: shareSame, describesPlans });
    for await (const { name, before, after } of paced(flags)) {
      // A flag that moves becomes absent in one project, and appears in the other.
      for (const project of new Set([before, after].flatMap((state) => state?.project ?? []))) {
        const within = (state: FlagState | undefined) => (state?.project === project ? state : undefined);
        const effect = effectBetween(describe(within(before), 'before'), describe(within(after), 'after'));
        if (effect) effects.push({ project, flag: name, environment, ...effect });
      }
    }
  }
  return effects;
}

/**
 * Returns the SHA-256 of effects: of the canonical JSON of a list with what clients receive of each flag, before and
 * after. It is equal for equal effects, whatever else the documents contain.
 *
 * @param others further items of the list
 */
export async function digestEffects(
  replica: EffectReplica,
  documents: readonly PlannedState[],
  effects: readonly FlagEffect[],
  others: readonly unknown[] = [],
): Promise<string> {
  const states = statesOf({ replica }, documents);
  const segment = shareHashes(segmentsIn(replica, states));
  const describeFor = memoize((environment: string) =>
    describeIn(environment, { states, segment, share: shareHashes, describesPlans: true }),
  );
  const hash = createHash('sha256');
  let separator = '[';
  const add = (item: unknown) => {
    hash.update(`${separator}${canonicalJson(item)}`);
    separator = ',';
  };
  for await (const { environment, project, flag: name } of paced(effects)) {
    const describe = (side: Side) => {
      const flag = states.flag(name, side);
      return describeFor(environment)(flag?.project === project ? flag : undefined, side);
    };
    add({ environment, project, flag: name, before: describe('before'), after: describe('after') });
  }
  others.forEach(add);
  return hash.update(separator === '[' ? '[]' : ']').digest('base64url');
}

/** Returns what clients see of a parent or a segment on one side of the change. */
type Describe<Id> = (id: Id, side: Side) => unknown;

/**
 * Returns a function that describes the flags of an environment.
 *
 * @param share makes a short value of a parent, because many flags may have the same one
 */
function describeIn(
  environment: string,
  {
    states,
    segment,
    share,
    describesPlans,
  }: {
    readonly states: Pick<States, 'flag'>;
    readonly segment: Describe<number>;
    readonly share: (describe: Describe<string>) => Describe<string>;
    readonly describesPlans: boolean;
  },
): (flag: FlagState | undefined, side: Side) => FlagDescription {
  const before = (name: string) => states.flag(name, 'before');
  const sideOf = (side: Side) => ({
    flag: (name: string) => states.flag(name, side),
    segment: (id: number) => segment(id, side),
    ...(describesPlans && { before }),
  });
  const parent = share((name, side) => describeParent(name, environment, sideOf(side)));
  return (flag, side) =>
    describeFlag(flag, environment, { ...sideOf(side), parent: (name: string) => parent(name, side) });
}

/**
 * Compares the sides of each document once. If they are equal, both are represented by one object, and otherwise each by
 * the name of its side: comparing them again for the next flag takes no time.
 */
function shareSame<Id>(describe: Describe<Id>): Describe<Id> {
  const sidesOf = memoize((id: Id) => {
    const before = describe(id, 'before');
    return isSameJson(before, describe(id, 'after')) ? { before, after: before } : { before: 'before', after: 'after' };
  });
  return (id, side) => sidesOf(id)[side];
}

/** Represents each document by the hash of its description, and hashes it once. */
function shareHashes<Id>(describe: Describe<Id>): Describe<Id> {
  const hashes = {
    before: memoize((id: Id) => hashOf(describe(id, 'before'))),
    after: memoize((id: Id) => hashOf(describe(id, 'after'))),
  };
  return (id, side) => hashes[side](id);
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

function segmentsIn({ documents }: EffectReplica, { changedSegments }: States): Describe<number> {
  const changed = new Map(changedSegments.map((one) => [Number(one.id), one]));
  return (id, side) => {
    const planned = changed.get(id);
    const state = planned ? planned[side] : documents.segments.get(`${id}`);
    return describeSegment(state as SegmentState | null | undefined);
  };
}

/** The flags and segments on both sides: planned documents, and the replica for all others. */
export interface States {
  readonly changedFlags: ReadonlySet<string>;
  readonly changedSegments: readonly PlannedState[];
  /** Flags of the replica, archived ones too. */
  readonly stored: ReadonlyMap<string, FlagState>;
  /** Returns a flag that is not archived. */
  flag(name: string, side: Side): FlagState | undefined;
  /** Returns the planned project of a flag, archived or not. */
  projectOf(name: string): string;
}

export function statesOf({ replica }: { readonly replica: EffectReplica }, documents: readonly PlannedState[]): States {
  const { flags: stored } = replica.documents;
  // A flag that the set creates and deletes again is on neither side.
  const flags = documents.filter(({ kind, before, after }) => kind === flagDocuments.kind && (before ?? after));
  const planned = new Map(flags.map((one) => [one.id, one]));
  return {
    stored,
    changedFlags: new Set(planned.keys()),
    changedSegments: documents.filter(({ kind }) => kind === segmentDocuments.kind),
    flag(name, side) {
      const document = planned.get(name);
      const state = document ? (document[side] as FlagState | null) : stored.get(name);
      return state?.archived ? undefined : (state ?? undefined);
    },
    projectOf(name) {
      const document = planned.get(name);
      const state = document ? ((document.after ?? document.before) as FlagState) : stored.get(name);
      return state?.project ?? '';
    },
  };
}

/**
 * Returns the changed flags, the flags that use a changed segment, and the flags that depend on any of these,
 * transitively.
 *
 * @param environment where the flags use the segment; any environment if absent
 */
export async function affectedFlags(
  states: States,
  { environment, signal }: { readonly environment?: string; readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly string[]> {
  const segments = new Set(states.changedSegments.map(({ id }) => Number(id)));
  const affected = new Set(states.changedFlags);
  const children = new Map<string, string[]>();
  for await (const [name, flag] of paced([...states.stored], { signal })) {
    if (flag.archived) continue;
    for (const { flag: parent } of flag.dependencies) {
      const known = children.get(parent);
      if (known) known.push(name);
      else children.set(parent, [name]);
    }
    if (segments.size === 0) continue;
    const places = environment === undefined ? flag.environments : [environmentOf(flag, environment)];
    const strategies = places.flatMap((place) => place.strategies);
    if (strategies.some((strategy) => strategy.segments?.some((id) => segments.has(id)))) affected.add(name);
  }
  // A set visits the items that are added while it is iterated.
  for (const name of affected) for (const child of children.get(name) ?? []) affected.add(child);
  return [...affected];
}
