/** The wire name of each event type. The docstrings are the meanings in docs/reference/events.md. */
export const WIRE_NAMES = {
  /** A project was created. */
  'project-created': 'project-created',
  /** The display name or the description of a project changed. */
  'project-updated': 'project-updated',
  /** A project was deleted, with its archived flags. */
  'project-deleted': 'project-deleted',
  /** A user became a member of a project. */
  'member-added': 'project-user-added',
  /** A member of a project got another role. */
  'member-role-changed': 'project-user-role-changed',
  /** A user is no longer a member of a project. */
  'member-removed': 'project-user-removed',
  /** A flag was created. `data` is the flag. */
  'flag-created': 'feature-created',
  /** The description, type, impression data, labels or owner of a flag changed. */
  'flag-updated': 'feature-metadata-updated',
  /** A flag was marked as stale. */
  'flag-stale-on': 'feature-stale-on',
  /** The mark was taken away. */
  'flag-stale-off': 'feature-stale-off',
  /** A flag was archived. SDKs no longer receive it. */
  'flag-archived': 'feature-archived',
  /** An archived flag was revived, off in every environment. */
  'flag-revived': 'feature-revived',
  /** An archived flag was deleted. `before` is the flag. */
  'flag-deleted': 'feature-deleted',
  /** A flag moved to another project. */
  'flag-moved': 'feature-project-change',
  /** A flag got a strategy in one environment. */
  'strategy-added': 'feature-strategy-add',
  /** A strategy changed, also its place in the order. */
  'strategy-updated': 'feature-strategy-update',
  /** A flag lost a strategy in one environment. */
  'strategy-removed': 'feature-strategy-remove',
  /** A flag was switched on in one environment. */
  'environment-enabled': 'feature-environment-enabled',
  /** A flag was switched off in one environment. */
  'environment-disabled': 'feature-environment-disabled',
  /** The variants of a flag changed. */
  'variants-updated': 'feature-variants-updated',
  /** A flag got a parent. */
  'dependency-added': 'feature-dependency-added',
  /** The conditions of a dependency changed. */
  'dependency-updated': 'feature-dependency-updated',
  /** A flag lost a parent. */
  'dependency-removed': 'feature-dependency-removed',
  /** A segment was created. */
  'segment-created': 'segment-created',
  /** A segment changed. */
  'segment-updated': 'segment-updated',
  /** A segment was deleted. */
  'segment-deleted': 'segment-deleted',
  /** An API token was created. The event has no secret. */
  'token-created': 'api-token-created',
  /** An API token got another time of expiry. */
  'token-updated': 'api-token-updated',
  /** An API token was deleted. */
  'token-deleted': 'api-token-deleted',
  /** A strategy began to roll out in steps. */
  'rollout-started': 'rollout-started',
  /** A rollout took a step: the percentage of the strategy changed. */
  'rollout-stepped': 'rollout-stepped',
  /** A rollout was paused. */
  'rollout-paused': 'rollout-paused',
  /** A paused rollout was resumed. */
  'rollout-resumed': 'rollout-resumed',
  /** A rollout ended. `data.reason` says why. */
  'rollout-ended': 'rollout-ended',
  /** A change was requested for a time, for approval, or both. */
  'change-request-created': 'change-request-created',
  /** A person approved a change request, or set its time. */
  'change-request-decided': 'change-request-decided',
  /** A change request was applied, rejected or withdrawn, has failed or expired. */
  'change-request-ended': 'change-request-ended',
  /** The environments that need approval changed. */
  'approval-policy-updated': 'approval-policy-updated',
} as const;

/** A type of event. `features.ts` lists the features whose events these are. */
export type EventType = keyof typeof WIRE_NAMES;
