import type { StrategyRef } from '../base/common.types.js';
import { isObject } from '../base/json.js';
import { FlagsError } from '../errors.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { walkBack } from '../log/event-log.js';
import type { Read } from '../storage/documents.js';
import type { FlagsStorage, StoredEvent } from '../storage/port.js';
import type { RolloutEnd, RolloutEndReason, RolloutState } from './rollout.js';

/** The flag has changed in a way that ends the rollout. */
export class FlagHasChanged extends FlagsError {
  constructor({ id }: Pick<RolloutState, 'id'>, end: RolloutEnd) {
    const cause = end.changeSet === null ? '' : `, by the change set ${end.changeSet}`;
    super('rollout_not_active', `The rollout ${id} has ended (${end.reason}${cause}); start another one.`);
  }
}

/**
 * Resolves to why other changes of the flag end a rollout; undefined if they do not. Reads the flag's events above the
 * revision in which the last step has left it, and the oldest one that matters counts.
 */
export async function findEnd(
  read: Read,
  storage: FlagsStorage,
  { ref, flagRevision }: Pick<RolloutState, 'ref' | 'flagRevision'>,
): Promise<RolloutEnd | undefined> {
  const revision = (await read(flagDocuments, ref.flag))?.revision;
  if (revision === flagRevision) return undefined;
  if (revision !== undefined && revision < flagRevision) return { reason: 'history-lost', changeSet: null };
  let end: RolloutEnd | undefined;
  const filter = { subject: { kind: flagDocuments.kind, id: ref.flag } };
  for await (const event of walkBack(storage, { filter })) {
    if (event.revision <= flagRevision) break;
    const reason = reasonOf(event, ref);
    if (reason) end = { reason, changeSet: event.changeSet };
  }
  // Without the flag and without its deletion, the log is not that of the last step.
  return end ?? (revision === undefined ? { reason: 'history-lost', changeSet: null } : undefined);
}

function reasonOf(
  { type, environment, data, before }: StoredEvent,
  ref: StrategyRef,
): Exclude<RolloutEndReason, 'stopped' | 'guard' | 'history-lost'> | undefined {
  switch (type) {
    case 'flag-archived':
    case 'flag-revived':
      return 'flag-archived';
    case 'flag-moved':
      return 'flag-moved';
    case 'flag-created':
    case 'flag-deleted':
      return 'flag-deleted';
    case 'environment-enabled':
    case 'environment-disabled':
      return environment === ref.environment ? 'environment-switched' : undefined;
    case 'strategy-updated':
    case 'strategy-removed':
      return environment === ref.environment && idOf(data ?? before) === ref.strategy ? 'strategy-changed' : undefined;
    default:
      return undefined;
  }
}

function idOf(strategy: unknown): unknown {
  return isObject(strategy) ? strategy.id : undefined;
}
