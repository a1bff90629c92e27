/** The members of the API's replies that the page reads: the engine's types, with wire names. */
import type * as core from '@flags/core';

export type Answer = core.PreviewedEvaluation;
export type Application = core.Application;
export type Bucket = core.PreviewBucket;
/** The page also shows constraints whose operator it does not know. */
export type Constraint = core.ConstraintDefinition;
export type DocumentDifference = core.DocumentDifference;
export type EvaluatedVariant = core.EvaluatedVariant;
export type PreviewedFlag = core.FlagPreview;

export interface Session {
  /** How to sign in: not at all, by API token, in the application, or either of the last two. */
  readonly auth: 'none' | 'token' | 'host' | 'session';
  readonly version: string;
  /** This member and the following ones are absent for callers without access. */
  readonly actor?: string;
  readonly environments?: readonly core.Environment[];
  /** The default environment of evaluations. */
  readonly environment?: string;
  readonly types?: readonly core.FlagType[];
  readonly roles?: readonly core.Role[];
  /** With `?project=`: what the caller may do there. */
  readonly actions?: readonly string[];
}

export interface Project extends Pick<core.Project, 'id' | 'name' | 'description'> {
  readonly featureCount: number;
  readonly health: number;
}

/** A flag in the list. */
export type ListedFlag = core.FlagOverview;

export interface FlagPage {
  readonly features: readonly ListedFlag[];
  readonly total: number;
}

/** A variant of a flag, or of a strategy, which has no overrides. */
export interface Variant extends core.StrategyVariant, Partial<Pick<core.Variant, 'overrides'>> {}

/** In a draft, a strategy has no id until it is saved. */
export interface Strategy extends Omit<core.ConfiguredStrategy, 'constraints' | 'parameters'> {
  readonly constraints: readonly Constraint[];
  readonly parameters: core.Parameters | null;
}

export interface FlagEnvironment extends Omit<core.FlagEnvironment, 'strategies'> {
  readonly strategies: readonly Strategy[];
}

export interface Dependency extends Omit<core.Dependency, 'flag'> {
  readonly feature: string;
}

/** A flag with its configuration in every environment. Absent lists are empty. */
export interface FlagDetail
  extends Omit<core.FlagDetail, 'revision' | 'variants' | 'environments' | 'dependencies' | 'children'> {
  readonly variants: readonly Variant[] | null;
  readonly environments: readonly FlagEnvironment[];
  readonly dependencies?: readonly Dependency[];
  readonly children?: readonly string[];
}

export interface Segment extends Omit<core.Segment, 'revision' | 'constraints'> {
  readonly constraints: readonly Constraint[];
}

/** A strategy that uses a segment. */
export interface SegmentUse {
  readonly id: string;
  readonly featureName: string;
  readonly projectId: string;
  readonly environment: string;
}

export interface MemberList {
  readonly roles: readonly core.Role[];
  readonly users: readonly Member[];
}

export interface Member {
  readonly id: number;
  readonly roleId: number;
  /** Only if the host describes its users. */
  readonly name?: string;
}

/** An API token without its secret. */
export interface Token
  extends Pick<core.ListedToken, 'id' | 'projects' | 'environment' | 'createdAt' | 'expiresAt' | 'lastUsedAt'> {
  readonly tokenName: string;
  readonly type: string;
}

export interface CreatedToken extends Token {
  readonly secret: string;
}

export interface WireEvent
  extends Pick<core.FlagsEvent, 'id' | 'project' | 'environment' | 'data' | 'changeSet' | 'reason'> {
  readonly type: string;
  readonly createdAt: string;
  readonly createdBy: string;
  readonly featureName: string | null;
  readonly preData: unknown;
}

export interface HistoryEntry extends Omit<core.HistoryEntry, 'events'> {
  readonly events: readonly WireEvent[];
}

export interface HistoryPage {
  readonly changes: readonly HistoryEntry[];
  readonly next?: string;
}

/** One change of a change set. A change of an existing document has the revision that the user has seen. */
export interface Change {
  readonly op: core.ChangeOperationName;
  readonly ref?: Readonly<Record<string, string | number>>;
  readonly input?: unknown;
  readonly ifRevision?: number;
}

export interface ChangeSet extends Omit<core.ChangeSet, 'events'> {
  readonly events: readonly WireEvent[];
}

export type PlannedDocument = Pick<core.PlannedDocument, 'kind' | 'id' | 'before' | 'after'>;

/** The effects of planned changes that the caller may read. */
export interface Plan {
  readonly documents: readonly PlannedDocument[];
  readonly effects: readonly core.Effect[];
  /** The number of effects on flags that the caller may not read. */
  readonly hiddenEffects: number;
}

/** A context of evaluation: standard fields beside properties. */
export type Context = {
  readonly [Field in Exclude<keyof core.EvaluationContext, 'properties'>]?: string;
} & { readonly properties?: Readonly<Record<string, string>> };

export type ExplainedConstraint = core.ConstraintExplanation;
export type ExplainedRollout = core.RolloutExplanation;
export type ExplainedStrategy = core.StrategyExplanation;

/** How a variant was selected. */
export interface ExplainedVariant extends Omit<core.VariantExplanation, 'variant'> {
  readonly variant: EvaluatedVariant | null;
}

export interface Explained
  extends Pick<core.FlagExplanation, 'enabled' | 'reason' | 'variant' | 'strategies' | 'dependencies'> {
  readonly name: string;
  readonly project: string;
  readonly variantChoice?: ExplainedVariant;
}

export interface Playground {
  readonly environment: string;
  readonly features: readonly Explained[];
  readonly next?: string;
}

export interface UsageRow extends Omit<core.UsagePeriod, 'flag' | 'variants'> {
  readonly feature: string;
  /** Evaluations by variant, without zeros. */
  readonly variants?: Readonly<Record<string, number>>;
}

export type ApplicationSummary = Pick<Application, 'appName' | 'strategies' | 'createdAt'>;

export interface ApplicationDetail extends Pick<core.ApplicationDetail, 'appName' | 'instances'> {
  readonly strategies: readonly { readonly strategies: readonly string[] }[];
  readonly seenToggles: readonly string[];
  readonly droppedNames: number;
}
