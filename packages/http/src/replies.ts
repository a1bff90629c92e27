/*
 * For the admin page and the command line: the members of the API's replies that they read, as types. Not part of the
 * public API: it may change in any release.
 */
import type * as core from '@flags/core';
import type { eventToWire } from '@flags/core/integration/http';
import type * as types from '@flags/core/types';
import type { requestToWire } from './features/change-requests/wire.js';
import type { consumerToWire } from './features/consumers/routes.js';
import type { explainedDependencyToWire } from './features/environments/playground.js';
import type { evaluatedVariantToWire } from './features/environments/wire.js';
import type { overviewToWire } from './features/flags/search.js';
import type { projectSummaryToWire } from './features/projects/routes.js';
import type { segmentUseToWire } from './features/segments/routes.js';
import type { createdTokenToWire, listedTokenToWire } from './features/tokens/wire.js';
import type { applicationSummaryToWire, instanceToWire } from './features/usage/routes.js';

/** The output of a converter of the API. */
type Sent<Converter extends (...input: never[]) => unknown> = Readonly<ReturnType<Converter>>;

export interface Answer extends Omit<types.PreviewedEvaluation, 'variant'> {
  readonly variant: EvaluatedVariant;
}
/** An application in the list of those that evaluate a flag. */
export interface Application extends Omit<core.Application, 'name'> {
  readonly appName: string;
}
export type Bucket = types.PreviewBucket;
/** The page also shows constraints whose operator it does not know. */
export type Constraint = types.ConstraintDefinition;
export type DocumentDifference = types.DocumentDifference;
export type EvaluatedVariant = Sent<typeof evaluatedVariantToWire>;
export interface PreviewedFlag extends Omit<types.FlagPreview, 'contexts'> {
  readonly contexts: readonly {
    readonly before: Answer;
    readonly after: Answer;
    readonly buckets: readonly Bucket[];
  }[];
}

export interface Session {
  /** How to sign in: not at all, by API token, in the application, or either of the last two. */
  readonly auth: 'none' | 'token' | 'host' | 'session';
  readonly version: string;
  /** This member and the following ones are absent for callers without access. */
  readonly actor?: string;
  readonly environments?: readonly types.Environment[];
  /** The default environment of evaluations. */
  readonly environment?: string;
  readonly types?: readonly types.FlagType[];
  readonly roles?: readonly types.Role[];
  readonly strategies?: readonly { readonly name: string }[];
  /** Whether change requests may have a time, and rollouts may start. */
  readonly acceptsTimes?: boolean;
  /** With `?project=`: the permitted actions of the caller there. */
  readonly actions?: readonly string[];
}

export type Project = Sent<typeof projectSummaryToWire>;

/** A flag in the list. */
export type ListedFlag = Sent<typeof overviewToWire>;

export interface FlagPage {
  readonly features: readonly ListedFlag[];
  readonly total: number;
}

/** A variant of a flag, or of a strategy, which has no overrides. */
export interface Variant extends core.StrategyVariant, Partial<Pick<core.Variant, 'overrides'>> {}

/** In a draft, a strategy has no id until it is saved. */
export interface Strategy extends Omit<types.OwnStrategyInput<string>, 'constraints' | 'parameters'> {
  readonly id?: string;
  readonly constraints: readonly Constraint[];
  readonly parameters: core.StrategyParameters | null;
  /** Only while it rolls out. */
  readonly rollout?: StrategyRollout;
}

export interface FlagEnvironment extends Omit<core.FlagEnvironment, 'strategies'> {
  readonly strategies: readonly Strategy[];
}

export interface Dependency extends Omit<core.Dependency, 'flag'> {
  readonly feature: string;
}

export type FlagMembers = types.FlagMembers;

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
export type SegmentUse = Sent<typeof segmentUseToWire>;

export interface MemberList {
  readonly roles: readonly types.Role[];
  readonly users: readonly Member[];
}

export interface Member {
  readonly id: number;
  readonly roleId: number;
  /** Only if the host describes its users. */
  readonly name?: string;
}

/** An API token without its secret. */
export type Token = Sent<typeof listedTokenToWire>;

export type CreatedToken = Sent<typeof createdTokenToWire>;

export type WireEvent = Sent<typeof eventToWire>;

/** A durable reader of events. */
export type Consumer = Sent<typeof consumerToWire>;

/** Changes that wait for a time, for approval, or for both. */
export type ChangeRequest = Sent<typeof requestToWire>;

/** A change request without its changes, in the state of the last decision. */
export type ListedChangeRequest = Omit<ChangeRequest, 'changes' | 'approval' | 'effect'>;

export interface ChangeRequestPage {
  readonly changeRequests: readonly ListedChangeRequest[];
  readonly next?: string;
}

/** The rollout of a strategy, in the strategy. */
export type StrategyRollout = Omit<types.StrategyRollout, 'author'> & { readonly author: { readonly name: string } };

/** A percentage that changes in steps. */
export type Rollout = StrategyRollout & Pick<core.Rollout, 'ref' | 'percentage' | 'nextAt'>;

export interface RolloutPage {
  readonly rollouts: readonly Rollout[];
  readonly next?: string;
}

export type ApprovalPolicy = types.KnownApprovalPolicy;

export interface HistoryEntry extends Omit<core.HistoryEntry, 'events'> {
  readonly events: readonly WireEvent[];
}

export interface HistoryPage {
  readonly changes: readonly HistoryEntry[];
  readonly next?: string;
}

/** One change of a change set. A change of an existing document has the revision that the user has seen. */
export interface Change {
  readonly op: types.ChangeOperationName | 'setApprovalPolicy' | 'undoChangeSet';
  readonly ref?: {
    readonly [Name in 'project' | 'flag' | 'environment' | 'strategy' | 'segment' | 'changeSet']?:
      | string
      | number
      | null;
  };
  readonly input?: unknown;
  readonly ifRevision?: number;
}

export interface ChangeSet extends Omit<core.ChangeSet, 'events'> {
  readonly events: readonly WireEvent[];
}

export interface PlannedDocument extends Omit<core.PlannedDocument, 'events'> {
  readonly events: readonly Pick<WireEvent, 'type' | 'environment' | 'data' | 'preData'>[];
}

/** The effects of planned changes that the caller may read. */
export interface Plan {
  readonly documents: readonly PlannedDocument[];
  readonly effects: readonly core.FlagEffect[];
  /** The number of effects on flags that the caller may not read. */
  readonly hiddenEffects: number;
  /** The approval that the changes need. */
  readonly approval: core.ChangePlan['approval'];
}

/** A context of evaluation: standard fields beside properties. */
export type Context = {
  readonly [Field in Exclude<keyof core.EvaluationContext, 'properties'>]?: string;
} & { readonly properties?: Readonly<Record<string, string>> };

export type ExplainedConstraint = types.ConstraintExplanation;
export type ExplainedRollout = types.RolloutExplanation;
export type ExplainedStrategy = core.StrategyExplanation;

/** How a variant was selected. */
export interface ExplainedVariant extends Omit<types.VariantExplanation, 'variant'> {
  readonly variant: EvaluatedVariant | null;
}

export interface ExplainedFlag extends Pick<core.FlagExplanation, 'enabled' | 'reason' | 'strategies'> {
  readonly variant: EvaluatedVariant;
  readonly dependencies: readonly Sent<typeof explainedDependencyToWire>[];
  readonly name: string;
  readonly project: string;
  readonly variantChoice?: ExplainedVariant;
}

export interface Playground {
  readonly environment: string;
  readonly features: readonly ExplainedFlag[];
  readonly next?: string;
}

export interface UsageRow extends Omit<core.UsagePeriod, 'flag' | 'application' | 'variants'> {
  readonly appName: string;
  readonly feature: string;
  /** Evaluations by variant, without zeros. */
  readonly variants?: Readonly<Record<string, number>>;
}

export type ApplicationSummary = Sent<typeof applicationSummaryToWire>;

export interface ApplicationDetail {
  readonly appName: string;
  readonly instances: readonly Sent<typeof instanceToWire>[];
  readonly strategies: readonly { readonly strategies: readonly string[] }[];
  readonly seenToggles: readonly string[];
  readonly droppedNames: number;
}
