import type { EventType, FlagsEvent } from '../api/events.js';
import type { TokenKind } from '../api/tokens.js';
import type { StoredEvent } from '../storage/port.js';
import { flagDocuments, tokenDocuments } from './aggregates.js';

/** An event as it is shown: a token's hash stays in the storage. */
export function toFlagsEvent(event: StoredEvent): FlagsEvent {
  const { id, position, type, at, actor, project, environment, subject, data, before, revision } = event;
  const { actorTokenId = null, actorTokenKind = null } = event;
  const shown = subject.kind === tokenDocuments.kind ? withoutHash : (value: unknown) => value;
  return {
    id,
    position,
    type: type as EventType,
    at,
    actor,
    actorTokenId,
    actorTokenKind: actorTokenKind as TokenKind | null,
    project,
    flag: subject.kind === flagDocuments.kind ? subject.id : null,
    environment,
    data: shown(data),
    before: shown(before),
    revision,
  };
}

function withoutHash(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { hash: _hash, ...shown } = value as { readonly hash?: unknown };
  return shown;
}
