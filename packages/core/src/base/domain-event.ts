/** All types of events. */
export const EVENT_TYPES = [
  'project-created',
  'project-updated',
  'project-deleted',
  'member-added',
  'member-role-changed',
  'member-removed',
  'flag-created',
  'flag-updated',
  'flag-stale-on',
  'flag-stale-off',
  'flag-archived',
  'flag-revived',
  'flag-deleted',
  'flag-moved',
  'strategy-added',
  'strategy-updated',
  'strategy-removed',
  'environment-enabled',
  'environment-disabled',
  'variants-updated',
  'dependency-added',
  'dependency-updated',
  'dependency-removed',
  'segment-created',
  'segment-updated',
  'segment-deleted',
  'token-created',
  'token-updated',
  'token-deleted',
] as const;

/** One of {@link EVENT_TYPES}. */
export type EventType = (typeof EVENT_TYPES)[number];

/**
 * A fact that a decision returns: enough to compute the new state from the old one. The commit adds actor and time.
 */
export interface DomainEvent<Type extends EventType = EventType, Data = unknown, Before = unknown> {
  readonly type: Type;
  readonly environment?: string;
  readonly data: Data;
  readonly before: Before;
}
