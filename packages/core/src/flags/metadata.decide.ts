import type { JsonPatch } from '../base/common.types.js';
import { isSameJson, pickChanged } from '../base/json.js';
import { applyPatch } from '../base/json-patch.js';
import type { Validator } from '../base/validator.js';
import { FlagsError } from '../errors.js';
import {
  assertNotArchived,
  type FlagEvent,
  type FlagHead,
  type FlagMetadata,
  type FlagState,
  METADATA,
} from './flag.js';
import type { FlagChanges, LabelChanges } from './flag.types.js';

const CHANGEABLE = [
  'description',
  'type',
  'stale',
  'impressionData',
  'labels',
  'owner',
] as const satisfies readonly (keyof FlagChanges)[];
/** The values of members that a patch removes. Other members cannot be removed. */
const CLEARED = { description: null, labels: [], owner: null };
const READ_ONLY = ['name', 'project', 'createdAt', 'lastSeen', 'lastSeenAt'];

/**
 * Records one event for the metadata and one for staleness, if they change. The metadata event contains the flag
 * without its environments, as in Unleash.
 */
export function changeMetadata(flag: FlagState, changes: FlagChanges): FlagEvent[] {
  assertNotArchived(flag);
  return replaceMetadata(flag, changes);
}

/** As {@link changeMetadata}, but accepts archived flags. */
export function replaceMetadata(flag: FlagState, { stale = flag.stale, ...changes }: FlagChanges): FlagEvent[] {
  const before = toUpdate(flag);
  const changed = pickChanged<FlagMetadata>(before, changes, METADATA);
  const events: FlagEvent[] = changed ? [{ type: 'flag-updated', data: { ...before, ...changed.data }, before }] : [];
  if (stale === flag.stale) return events;
  return [...events, { type: stale ? 'flag-stale-on' : 'flag-stale-off', data: { stale }, before: { stale: !stale } }];
}

/**
 * Adds and removes labels. Keeps the order; an added label comes last. Ignores labels to add that exist, and labels to
 * remove that do not.
 */
export function changeLabels(
  flag: FlagState,
  { add = [], remove = [] }: LabelChanges,
  validate: FlagPatch['validate'],
): FlagEvent[] {
  const labels = new Set(flag.labels);
  for (const label of remove) labels.delete(label);
  for (const label of add) labels.add(label);
  return changeMetadata(flag, validate({ labels: [...labels] }));
}

export function toUpdate(flag: FlagState): FlagHead {
  const { name, project, description, type, stale, impressionData, archived, createdAt, variants, labels, owner } =
    flag;
  return {
    name,
    project,
    description,
    type,
    stale,
    impressionData,
    archived,
    createdAt,
    variants,
    labels,
    owner,
  };
}

/** The input of a patch. */
export interface FlagPatch {
  readonly patch: JsonPatch;
  readonly validate: Validator<FlagChanges>;
}

/** Applies a patch to the changeable fields. The patch may test other stored fields, but cannot change them. */
export function patchMetadata(flag: FlagState, { patch, validate }: FlagPatch): FlagEvent[] {
  assertNotArchived(flag);
  const { name, project, createdAt, description, type, stale, impressionData, labels, owner } = flag;
  const view = { name, project, createdAt, description, type, stale, impressionData, labels, owner };
  const result = applyPatch(view, patch, { changeable: CHANGEABLE, readOnly: READ_ONLY }) as Fields;
  return changeMetadata(flag, validate(changesBetween(view, withoutGaps(result))));
}

type Fields = Readonly<Record<string, unknown>>;

/** Unchanged fields are not validated again: a flag's type may no longer be configured. */
function changesBetween(before: Fields, after: Fields): Fields {
  const changed = CHANGEABLE.filter((field) => !isSameJson(before[field], after[field]));
  return Object.fromEntries(changed.map((field) => [field, after[field]]));
}

/** Removing the description, the labels or the owner clears them. Other fields cannot be removed. */
function withoutGaps(result: Fields): Fields {
  const removed = CHANGEABLE.filter((field) => !Object.hasOwn(CLEARED, field) && !Object.hasOwn(result, field));
  if (removed.length > 0) {
    const details = removed.map((field) => ({ message: 'cannot be removed', path: `/${field}` }));
    throw new FlagsError('invalid_patch', `The patch cannot be applied: /${removed[0]} cannot be removed.`, details);
  }
  return { ...CLEARED, ...result };
}
