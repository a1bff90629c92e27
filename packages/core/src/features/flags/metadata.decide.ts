import type { ErrorDetail } from '../../base/errors.js';
import { pickChanged } from '../../base/json.js';
import { isDotSegment } from '../../base/primitives.js';
import { invalidInput, type Validator } from '../../base/validator.js';
import { assertNotArchived, type FlagEvent, type FlagHead, type FlagState } from './flag.js';
import type { FlagChanges, FlagMembers, LabelChanges } from './flag.types.js';
import { METADATA, membersOf } from './flag-members.js';

/**
 * Records one event for the metadata and one for staleness, if they change. The metadata event contains the flag
 * without its environments, as in Unleash.
 */
export function changeMetadata(flag: FlagState, changes: FlagChanges): FlagEvent[] {
  assertNotArchived(flag);
  assertNewLabels(changes.labels, flag.labels);
  return replaceMetadata(flag, changes);
}

/** Throws `invalid_input` for new labels that cannot stand in a path. A flag that has one may keep it. */
export function assertNewLabels(labels: readonly string[] | undefined, before: readonly string[] = []): void {
  const issues = newLabelIssues(labels, before);
  if (issues.length > 0) throw invalidInput(issues);
}

export function newLabelIssues(
  labels: readonly string[] = [],
  before: readonly string[] = [],
): readonly Required<ErrorDetail>[] {
  return labels.flatMap((label, index) =>
    isDotSegment(label) && !before.includes(label)
      ? [{ message: 'must not be . or .., because no path could name it', path: `/labels/${index}` }]
      : [],
  );
}

/** As {@link changeMetadata}, but accepts archived flags, and labels that the flag has had before. */
export function replaceMetadata(flag: FlagState, { stale = flag.stale, ...changes }: FlagChanges): FlagEvent[] {
  const before = toUpdate(flag);
  const changed = pickChanged<FlagMembers>(before, changes, METADATA);
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
  { add, remove }: Required<LabelChanges>,
  validate: Validator<FlagChanges>,
): FlagEvent[] {
  const labels = new Set(flag.labels);
  for (const label of remove) labels.delete(label);
  for (const label of add) labels.add(label);
  return changeMetadata(flag, validate({ labels: [...labels] }));
}

export function toUpdate(flag: FlagState): FlagHead {
  const { name, project, archived, createdAt, variants } = flag;
  const { labels, owner, ...members } = membersOf(flag);
  return { name, project, ...members, archived, createdAt, variants, labels, owner };
}
