/** Members of the API's replies that the page reads. */

export interface Session {
  /** How to sign in: not at all, by API token, in the application, or either of the last two. */
  readonly auth: 'none' | 'token' | 'host' | 'session';
  readonly version: string;
  /** Absent, as all that follows, for callers that are not let in. */
  readonly actor?: string;
  readonly environments?: readonly SessionEnvironment[];
  readonly types?: readonly { readonly name: string; readonly lifetimeDays: number | null }[];
  readonly roles?: readonly { readonly id: number; readonly name: string }[];
  readonly strategies?: readonly { readonly name: string; readonly description: string }[];
  /** With `?project=`: what the caller may do there. */
  readonly actions?: readonly string[];
}

export interface SessionEnvironment {
  readonly name: string;
  readonly displayName: string;
}

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly featureCount: number;
}

export interface ListedEnvironment {
  readonly name: string;
  readonly enabled: boolean;
  readonly strategyCount: number;
  /** The largest rollout in percent; null if no strategy has one. */
  readonly rollout: number | null;
  readonly hasVariants: boolean;
}

/** A flag in the list. */
export interface ListedFlag {
  readonly name: string;
  readonly project: string;
  readonly description: string | null;
  readonly type: string;
  readonly stale: boolean;
  readonly archived: boolean;
  readonly labels: readonly string[];
  readonly owner: string | null;
  readonly revision: number;
  readonly createdAt: string;
  readonly lastSeenAt: string | null;
  readonly environments: readonly ListedEnvironment[];
}

export interface FlagPage {
  readonly features: readonly ListedFlag[];
  readonly total: number;
}

export interface Constraint {
  readonly contextName: string;
  readonly operator: string;
  readonly values?: readonly string[];
  readonly value?: string;
  readonly inverted?: boolean;
  readonly caseInsensitive?: boolean;
}

export interface Payload {
  readonly type: string;
  readonly value: string;
}

export interface Variant {
  readonly name: string;
  readonly weightType: 'fix' | 'variable';
  readonly weight: number;
  readonly stickiness: string;
  readonly payload?: Payload;
  readonly overrides?: readonly { readonly contextName: string; readonly values: readonly string[] }[];
}

export type Parameters = Readonly<Record<string, string | number | boolean | null>>;

export interface Strategy {
  /** Absent in a draft until the strategy is saved. */
  readonly id?: string;
  readonly name: string;
  readonly constraints: readonly Constraint[];
  readonly parameters: Parameters | null;
  readonly title?: string;
  readonly disabled?: boolean;
  readonly sortOrder?: number;
  readonly segments?: readonly number[];
  readonly variants?: readonly Variant[];
}

export interface FlagEnvironment {
  readonly name: string;
  readonly enabled: boolean;
  readonly strategies: readonly Strategy[];
}

export interface Dependency {
  readonly feature: string;
  readonly enabled: boolean;
  readonly variants: readonly string[];
}

/** A flag with its configuration in every environment. */
export interface FlagDetail {
  readonly name: string;
  readonly project: string;
  readonly description: string | null;
  readonly type: string;
  readonly stale: boolean;
  readonly impressionData: boolean;
  readonly archived: boolean;
  readonly createdAt: string;
  readonly lastSeenAt: string | null;
  readonly labels?: readonly string[];
  readonly owner?: string | null;
  readonly variants: readonly Variant[] | null;
  readonly environments: readonly FlagEnvironment[];
  readonly dependencies?: readonly Dependency[];
  readonly children?: readonly string[];
}

export interface Segment {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly constraints: readonly Constraint[];
  readonly project: string | null;
  readonly createdAt: string;
  readonly createdBy: string;
}

/** A strategy that uses a segment. */
export interface SegmentUse {
  readonly id: string;
  readonly featureName: string;
  readonly projectId: string;
  readonly environment: string;
}

export interface MemberList {
  readonly roles: readonly { readonly id: number; readonly name: string }[];
  readonly users: readonly Member[];
}

export interface Member {
  readonly id: number;
  readonly roleId: number;
  /** Only if the host describes its users. */
  readonly name?: string;
}

/** An API token without its secret. */
export interface Token {
  readonly id: string;
  readonly tokenName: string;
  readonly type: string;
  readonly projects: readonly string[];
  readonly environment: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  /** Accurate to the hour; null if never. */
  readonly lastUsedAt: string | null;
}

export interface CreatedToken extends Token {
  readonly secret: string;
}

export interface WireEvent {
  readonly id: number;
  readonly type: string;
  readonly createdAt: string;
  readonly createdBy: string;
  readonly project: string | null;
  readonly featureName: string | null;
  readonly environment: string | null;
  readonly data: unknown;
  readonly preData: unknown;
  readonly changeSet?: string | null;
  readonly reason?: string | null;
}

/** What a change set has changed in one document. */
export interface DocumentDifference {
  readonly kind: string;
  readonly id: string;
  readonly parts: readonly PartDifference[];
}

/** One changed part. Strategies and variants are matched by id and name, not by index. */
export interface PartDifference {
  /** A JSON Pointer. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface HistoryEntry {
  readonly id: string | null;
  readonly at: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly events: readonly WireEvent[];
  readonly differences?: readonly DocumentDifference[];
}

export interface HistoryPage {
  readonly changes: readonly HistoryEntry[];
  readonly next?: string;
}

/** One change of a change set. Changes of what exists carry the revision that the user has seen. */
export interface Change {
  readonly op: string;
  readonly ref?: Readonly<Record<string, string | number>>;
  readonly input?: unknown;
  readonly ifRevision?: number;
}

export interface ChangeSet {
  readonly id: string | null;
  readonly at: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly events: readonly WireEvent[];
  readonly revisions: Readonly<Record<string, number>>;
}

export interface EvaluatedVariant {
  readonly name: string;
  readonly enabled: boolean;
}

export interface Answer {
  readonly enabled: boolean;
  readonly variant: string | EvaluatedVariant | null;
  readonly reason: string;
}

/** Where a context falls in one hashing strategy. */
export interface Bucket {
  readonly strategy: string;
  /** 1–100; null if the context lacks the id that the strategy hashes. */
  readonly bucket: number | null;
  /** Buckets up to this number are in the rollout. */
  readonly rollout: number;
}

export interface PreviewedFlag {
  readonly project: string;
  readonly flag: string;
  readonly before: { readonly enabled: number };
  readonly after: { readonly enabled: number };
  readonly contexts: readonly {
    readonly before: Answer;
    readonly after: Answer;
    readonly buckets: readonly Bucket[];
  }[];
}

export interface Preview {
  readonly flags: readonly PreviewedFlag[];
}

/** A context of evaluation: standard fields beside properties. */
export interface Context {
  readonly userId?: string;
  readonly sessionId?: string;
  readonly remoteAddress?: string;
  readonly appName?: string;
  readonly environment?: string;
  readonly currentTime?: string;
  readonly properties?: Readonly<Record<string, string>>;
}

export interface ExplainedConstraint {
  readonly constraint: Constraint;
  readonly holds: boolean;
  /** The text of the context field; absent if the context has none. */
  readonly value?: string;
}

/** Where a context falls in a rollout. */
export interface ExplainedRollout {
  readonly holds: boolean;
  readonly groupId?: string;
  /** The hashed id; absent if the context has none. */
  readonly id?: string;
  /** Absent if a missing id means off. */
  readonly bucket?: number;
  readonly random?: boolean;
  readonly rollout: number;
}

export interface ExplainedStrategy {
  readonly name: string;
  readonly holds: boolean;
  readonly disabled: boolean;
  readonly isTooCostly?: boolean;
  readonly constraints: readonly ExplainedConstraint[];
  readonly segments: readonly {
    readonly id: number;
    readonly holds: boolean;
    readonly found: boolean;
    readonly constraints?: readonly ExplainedConstraint[];
  }[];
  /** Whether the strategy's own test holds. Absent if it was not evaluated. */
  readonly test?: boolean;
  readonly rollout?: ExplainedRollout;
}

/** How a variant was selected. */
export interface ExplainedVariant {
  readonly variant: EvaluatedVariant | null;
  readonly overridden: boolean;
  readonly groupId?: string;
  readonly id?: string;
  readonly bucket?: number;
  readonly random?: boolean;
  readonly totalWeight?: number;
}

export interface Explained {
  readonly name: string;
  readonly project: string;
  readonly enabled: boolean;
  readonly reason: string;
  readonly variant: EvaluatedVariant;
  readonly strategies: readonly ExplainedStrategy[];
  readonly dependencies: readonly {
    readonly dependency: Partial<Dependency>;
    readonly holds: boolean;
  }[];
  readonly variantChoice?: ExplainedVariant;
}

export interface Playground {
  readonly environment: string;
  readonly features: readonly Explained[];
  readonly next?: string;
}

export interface UsageRow {
  readonly feature: string;
  readonly environment: string;
  readonly appName: string;
  readonly hour?: string;
  readonly day?: string;
  readonly yes: number;
  readonly no: number;
}

/** An application as it has described itself: hostile text. */
export interface Application {
  readonly appName: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly description?: string;
  readonly url: string;
  readonly color?: string | null;
}

export interface ApplicationSummary {
  readonly appName: string;
  readonly strategies: readonly string[];
  readonly createdAt: string;
}

export interface ApplicationDetail {
  readonly appName: string;
  readonly instances: readonly {
    readonly instanceId: string;
    readonly clientIp: string | null;
    readonly lastSeen: string;
    readonly createdAt: string;
  }[];
  readonly strategies: readonly { readonly strategies: readonly string[] }[];
  readonly seenToggles: readonly string[];
  readonly droppedNames: number;
}
