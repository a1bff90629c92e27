interface EventName {
  /** The name on the wire. Other programs read it: it never changes. */
  readonly wire: string;
  /** What the actor did, as lists of events show it after the name of the actor. */
  readonly words: string;
}

/** The names of each type of event. */
const EVENT_NAMES = {
  'project-created': { wire: 'project-created', words: 'created the project' },
  'project-updated': { wire: 'project-updated', words: 'changed the project' },
  'project-deleted': { wire: 'project-deleted', words: 'deleted the project' },
  'member-added': { wire: 'project-user-added', words: 'added a member' },
  'member-role-changed': { wire: 'project-user-role-changed', words: 'changed a role' },
  'member-removed': { wire: 'project-user-removed', words: 'removed a member' },
  'flag-created': { wire: 'feature-created', words: 'created the flag' },
  'flag-updated': { wire: 'feature-metadata-updated', words: 'changed details' },
  'flag-stale-on': { wire: 'feature-stale-on', words: 'marked the flag stale' },
  'flag-stale-off': { wire: 'feature-stale-off', words: 'marked the flag active' },
  'flag-archived': { wire: 'feature-archived', words: 'archived the flag' },
  'flag-revived': { wire: 'feature-revived', words: 'revived the flag' },
  'flag-deleted': { wire: 'feature-deleted', words: 'deleted the flag' },
  'flag-moved': { wire: 'feature-project-change', words: 'moved the flag' },
  'strategy-added': { wire: 'feature-strategy-add', words: 'added a strategy' },
  'strategy-updated': { wire: 'feature-strategy-update', words: 'changed a strategy' },
  'strategy-removed': { wire: 'feature-strategy-remove', words: 'removed a strategy' },
  'environment-enabled': { wire: 'feature-environment-enabled', words: 'enabled the flag' },
  'environment-disabled': { wire: 'feature-environment-disabled', words: 'disabled the flag' },
  'variants-updated': { wire: 'feature-variants-updated', words: 'changed variants' },
  'dependency-added': { wire: 'feature-dependency-added', words: 'added a dependency' },
  'dependency-updated': { wire: 'feature-dependency-updated', words: 'changed a dependency' },
  'dependency-removed': { wire: 'feature-dependency-removed', words: 'removed a dependency' },
  'segment-created': { wire: 'segment-created', words: 'created a segment' },
  'segment-updated': { wire: 'segment-updated', words: 'changed a segment' },
  'segment-deleted': { wire: 'segment-deleted', words: 'deleted a segment' },
  'token-created': { wire: 'api-token-created', words: 'created a token' },
  'token-updated': { wire: 'api-token-updated', words: 'changed when a token expires' },
  'token-deleted': { wire: 'api-token-deleted', words: 'deleted a token' },
  'rollout-started': { wire: 'rollout-started', words: 'started a rollout' },
  'rollout-stepped': { wire: 'rollout-stepped', words: 'took a step of a rollout' },
  'rollout-paused': { wire: 'rollout-paused', words: 'paused a rollout' },
  'rollout-resumed': { wire: 'rollout-resumed', words: 'resumed a rollout' },
  'rollout-ended': { wire: 'rollout-ended', words: 'ended a rollout' },
  'change-request-created': { wire: 'change-request-created', words: 'requested a change' },
  'change-request-decided': { wire: 'change-request-decided', words: 'decided on a change request' },
  'change-request-ended': { wire: 'change-request-ended', words: 'ended a change request' },
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
