interface EventName {
  /** The name on the wire. Other programs read it: it never changes. */
  readonly wire: string;
  /** What the actor did, as lists of events show it after the name of the actor. */
  readonly words: string;
}

/** The names of each type of event. The docstrings are the meanings in docs/reference/events.md. */
const EVENT_NAMES = {
  /** A project was created. */
  'project-created': { wire: 'project-created', words: 'created the project' },
  /** The display name or the description of a project changed. */
  'project-updated': { wire: 'project-updated', words: 'changed the project' },
  /** A project was deleted, with its archived flags. */
  'project-deleted': { wire: 'project-deleted', words: 'deleted the project' },
  /** A user became a member of a project. */
  'member-added': { wire: 'project-user-added', words: 'added a member' },
  /** A member of a project got another role. */
  'member-role-changed': { wire: 'project-user-role-changed', words: 'changed a role' },
  /** A user is no longer a member of a project. */
  'member-removed': { wire: 'project-user-removed', words: 'removed a member' },
  /** A flag was created. `data` is the flag. */
  'flag-created': { wire: 'feature-created', words: 'created the flag' },
  /** The description, type, impression data, labels or owner of a flag changed. */
  'flag-updated': { wire: 'feature-metadata-updated', words: 'changed details' },
  /** A flag was marked as stale. */
  'flag-stale-on': { wire: 'feature-stale-on', words: 'marked the flag stale' },
  /** The mark was taken away. */
  'flag-stale-off': { wire: 'feature-stale-off', words: 'marked the flag active' },
  /** A flag was archived. SDKs no longer receive it. */
  'flag-archived': { wire: 'feature-archived', words: 'archived the flag' },
  /** An archived flag was revived, off in every environment. */
  'flag-revived': { wire: 'feature-revived', words: 'revived the flag' },
  /** An archived flag was deleted. `before` is the flag. */
  'flag-deleted': { wire: 'feature-deleted', words: 'deleted the flag' },
  /** A flag moved to another project. */
  'flag-moved': { wire: 'feature-project-change', words: 'moved the flag' },
  /** A flag got a strategy in one environment. */
  'strategy-added': { wire: 'feature-strategy-add', words: 'added a strategy' },
  /** A strategy changed, also its place in the order. */
  'strategy-updated': { wire: 'feature-strategy-update', words: 'changed a strategy' },
  /** A flag lost a strategy in one environment. */
  'strategy-removed': { wire: 'feature-strategy-remove', words: 'removed a strategy' },
  /** A flag was switched on in one environment. */
  'environment-enabled': { wire: 'feature-environment-enabled', words: 'enabled the flag' },
  /** A flag was switched off in one environment. */
  'environment-disabled': { wire: 'feature-environment-disabled', words: 'disabled the flag' },
  /** The variants of a flag changed. */
  'variants-updated': { wire: 'feature-variants-updated', words: 'changed variants' },
  /** A flag got a parent. */
  'dependency-added': { wire: 'feature-dependency-added', words: 'added a dependency' },
  /** The conditions of a dependency changed. */
  'dependency-updated': { wire: 'feature-dependency-updated', words: 'changed a dependency' },
  /** A flag lost a parent. */
  'dependency-removed': { wire: 'feature-dependency-removed', words: 'removed a dependency' },
  /** A segment was created. */
  'segment-created': { wire: 'segment-created', words: 'created a segment' },
  /** A segment changed. */
  'segment-updated': { wire: 'segment-updated', words: 'changed a segment' },
  /** A segment was deleted. */
  'segment-deleted': { wire: 'segment-deleted', words: 'deleted a segment' },
  /** An API token was created. The event has no secret. */
  'token-created': { wire: 'api-token-created', words: 'created a token' },
  /** An API token got another time of expiry. */
  'token-updated': { wire: 'api-token-updated', words: 'changed when a token expires' },
  /** An API token was deleted. */
  'token-deleted': { wire: 'api-token-deleted', words: 'deleted a token' },
  /** A strategy began to roll out in steps. */
  'rollout-started': { wire: 'rollout-started', words: 'started a rollout' },
  /** A rollout took a step: the percentage of the strategy changed. */
  'rollout-stepped': { wire: 'rollout-stepped', words: 'took a step of a rollout' },
  /** A rollout was paused. */
  'rollout-paused': { wire: 'rollout-paused', words: 'paused a rollout' },
  /** A paused rollout was resumed. */
  'rollout-resumed': { wire: 'rollout-resumed', words: 'resumed a rollout' },
  /** A rollout ended. `data.reason` says why. */
  'rollout-ended': { wire: 'rollout-ended', words: 'ended a rollout' },
  /** A change was requested for a time, for approval, or both. */
  'change-request-created': { wire: 'change-request-created', words: 'requested a change' },
  /** A person approved a change request, or set its time. */
  'change-request-decided': { wire: 'change-request-decided', words: 'decided on a change request' },
  /** A change request was applied, rejected or withdrawn, has failed or expired. */
  'change-request-ended': { wire: 'change-request-ended', words: 'ended a change request' },
  /** The environments that need approval changed. */
  'approval-policy-updated': { wire: 'approval-policy-updated', words: 'changed which environments need approval' },
} as const satisfies Readonly<Record<string, EventName>>;

type Names = typeof EVENT_NAMES;

/** A type of event. `features.ts` lists the features whose events these are. */
export type EventType = keyof Names;

export type WireEventType = Names[EventType]['wire'];

const NAMES = Object.entries<EventName>(EVENT_NAMES);

/** The wire name of each event type. */
export const WIRE_NAMES = Object.fromEntries(NAMES.map(([type, { wire }]) => [type, wire])) as {
  readonly [Type in EventType]: Names[Type]['wire'];
};

/** The words of each event type, by its wire name. */
export const EVENT_WORDS = Object.fromEntries(NAMES.map(([, { wire, words }]) => [wire, words])) as Readonly<
  Record<WireEventType, string>
>;
