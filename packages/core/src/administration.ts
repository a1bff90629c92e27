import type {
  AnyFlagRef,
  ChangeContext,
  EnvironmentRef,
  FlagRef,
  ListPage,
  PageQuery,
  ProjectRef,
  StrategyRef,
  TokenChangeContext,
} from './base/common.types.js';
import { change, ENGINE, run } from './changesets/run-operation.js';
import { FLAG, PROJECT, SEGMENT } from './engine/operation.js';
import type { ListedChangeRequest } from './features/change-requests/change-request.types.js';
import { ApprovalPolicies, ChangeRequests } from './features/change-requests/change-requests.js';
import type { EndedRollout, Rollout } from './features/rollouts/rollout.types.js';
import { Rollouts } from './features/rollouts/rollouts.js';
import * as dependencies from './flags/dependencies.operations.js';
import type { Dependency, DependencyInput, DependencyOperations } from './flags/dependency.types.js';
import * as flags from './flags/flag.operations.js';
import type {
  ArchivedFlag,
  Flag,
  FlagChanges,
  FlagDetail,
  FlagOperations,
  FlagSummary,
  LabelChanges,
  NewFlag,
} from './flags/flag.types.js';
import * as flagLists from './flags/flag-lists.operations.js';
import { searchFlags } from './flags/flag-lists.operations.js';
import type { FlagListOperations, FlagPage, FlagQuery } from './flags/flag-search.types.js';
import type {
  EnvironmentInput,
  FlagEnvironment,
  SegmentUse,
  Strategy,
  StrategyInput,
  StrategyOperations,
  StrategyPlace,
  StrategyReplacement,
} from './flags/strategy.types.js';
import type { Variant, VariantInput, VariantOperations } from './flags/variant.types.js';
import type { FlagsEngine } from './flags-engine.js';
import * as members from './projects/members.operations.js';
import * as projects from './projects/project.operations.js';
import type {
  Member,
  MemberOperations,
  NewProject,
  Project,
  ProjectChanges,
  ProjectOperations,
  ProjectOverview,
  ProjectSummary,
} from './projects/project.types.js';
import * as segments from './segments/segment.operations.js';
import type {
  NewSegment,
  Segment,
  SegmentChanges,
  SegmentOperations,
  SegmentQuery,
  SegmentRef,
} from './segments/segment.types.js';
import * as tokens from './tokens/token.operations.js';
import type {
  CreatedToken,
  ListedToken,
  NewToken,
  Token,
  TokenChanges,
  TokenOperations,
  TokenRef,
  TokenRotation,
  VerifiedToken,
} from './tokens/token.types.js';
import { verifyToken, verifyTokens } from './tokens/token-verification.operations.js';

/**
 * The administration of projects, flags, segments and tokens, now and later: by change requests and rollouts. Every
 * operation is a change, or a read.
 */
export class Administration<Own extends string = never>
  implements
    ProjectOperations,
    MemberOperations,
    FlagOperations,
    FlagListOperations,
    VariantOperations,
    DependencyOperations,
    StrategyOperations<Own>,
    SegmentOperations,
    TokenOperations
{
  /** @internal A private member would make the types of the ESM and CommonJS builds incompatible. */
  readonly [ENGINE]: FlagsEngine;

  /** @internal */
  constructor(engine: FlagsEngine) {
    this[ENGINE] = engine;
  }

  // Projects and members

  createProject(input: NewProject, context?: ChangeContext): Promise<Project> {
    return change(this, 'createProject', { input, context });
  }

  updateProject(ref: ProjectRef, input: ProjectChanges, context?: ChangeContext): Promise<Project> {
    return change(this, 'updateProject', { ref, input, context });
  }

  deleteProject(ref: ProjectRef, context?: ChangeContext): Promise<void> {
    return change(this, 'deleteProject', { ref, context });
  }

  listProjects(page?: PageQuery): Promise<ListPage<ProjectSummary>> {
    return run(this, { op: 'listProjects' }, (engine) => projects.listProjects(engine, page));
  }

  getProject(ref: ProjectRef): Promise<ProjectOverview> {
    return run(this, { op: 'getProject', members: PROJECT, ref }, (engine) => projects.getProject(engine, ref));
  }

  addMember(ref: ProjectRef, input: Member, context?: ChangeContext): Promise<void> {
    return change(this, 'addMember', { ref, input, context });
  }

  changeMemberRole(ref: ProjectRef, input: Member, context?: ChangeContext): Promise<void> {
    return change(this, 'changeMemberRole', { ref, input, context });
  }

  removeMember(ref: ProjectRef, input: Member, context?: ChangeContext): Promise<void> {
    return change(this, 'removeMember', { ref, input, context });
  }

  listMembers(ref: ProjectRef): Promise<ListPage<Member>> {
    return run(this, { op: 'listMembers', members: PROJECT, ref }, (engine) => members.listMembers(engine, ref));
  }

  // Flags

  createFlag(ref: ProjectRef, input: NewFlag, context?: ChangeContext): Promise<Flag> {
    return change(this, 'createFlag', { ref, input, context });
  }

  getFlag(ref: FlagRef): Promise<FlagDetail> {
    return run(this, { op: 'getFlag', members: FLAG, ref }, (engine) => flags.getFlag(engine, ref));
  }

  locateFlag(ref: { readonly flag: string }): Promise<FlagRef> {
    return run(this, { op: 'locateFlag', members: ['flag'], ref }, (engine) => flags.locateFlag(engine, ref));
  }

  listFlags(ref: ProjectRef, page?: PageQuery): Promise<ListPage<FlagSummary>> {
    return run(this, { op: 'listFlags', members: PROJECT, ref, options: page }, (engine) =>
      flagLists.listFlags(engine, ref, page),
    );
  }

  listArchivedFlags(ref?: Partial<ProjectRef>, page?: PageQuery): Promise<ListPage<ArchivedFlag>> {
    return run(this, { op: 'listArchivedFlags', members: ['project?'], ref, options: page }, (engine) =>
      flagLists.listArchivedFlags(engine, ref, page),
    );
  }

  searchFlags(query?: FlagQuery): Promise<FlagPage> {
    return run(this, { op: 'searchFlags' }, (engine) => searchFlags(engine, query));
  }

  updateFlag(ref: FlagRef, input: FlagChanges, context?: ChangeContext): Promise<Flag> {
    return change(this, 'updateFlag', { ref, input, context });
  }

  changeLabels(ref: FlagRef, input: LabelChanges, context?: ChangeContext): Promise<Flag> {
    return change(this, 'changeLabels', { ref, input, context });
  }

  cloneFlag(ref: FlagRef, input: { readonly name: string }, context?: ChangeContext): Promise<Flag> {
    return change(this, 'cloneFlag', { ref, input, context });
  }

  archiveFlag(ref: FlagRef, context?: ChangeContext): Promise<void> {
    return change(this, 'archiveFlag', { ref, context });
  }

  reviveFlag(ref: AnyFlagRef, context?: ChangeContext): Promise<Flag> {
    return change(this, 'reviveFlag', { ref, context });
  }

  deleteFlag(ref: AnyFlagRef, context?: ChangeContext): Promise<void> {
    return change(this, 'deleteFlag', { ref, context });
  }

  moveFlag(ref: FlagRef, input: ProjectRef, context?: ChangeContext): Promise<Flag> {
    return change(this, 'moveFlag', { ref, input, context });
  }

  setVariants(ref: FlagRef, input: readonly VariantInput[], context?: ChangeContext): Promise<readonly Variant[]> {
    return change(this, 'setVariants', { ref, input, context });
  }

  addDependency(ref: FlagRef, input: DependencyInput, context?: ChangeContext): Promise<Dependency> {
    return change(this, 'addDependency', { ref, input, context });
  }

  removeDependency(ref: FlagRef, input: { readonly flag: string }, context?: ChangeContext): Promise<void> {
    return change(this, 'removeDependency', { ref, input, context });
  }

  removeDependencies(ref: FlagRef, context?: ChangeContext): Promise<void> {
    return change(this, 'removeDependencies', { ref, context });
  }

  listPossibleParents(ref: FlagRef, page?: PageQuery): Promise<ListPage<string>> {
    return run(this, { op: 'listPossibleParents', members: FLAG, ref, options: page }, (engine) =>
      dependencies.listPossibleParents(engine, ref, page),
    );
  }

  // Strategies

  addStrategy(ref: EnvironmentRef, input: StrategyInput<Own>, context?: ChangeContext): Promise<Strategy> {
    return change(this, 'addStrategy', { ref, input, context });
  }

  updateStrategy(ref: StrategyRef, input: StrategyReplacement<Own>, context?: ChangeContext): Promise<Strategy> {
    return change(this, 'updateStrategy', { ref, input, context });
  }

  removeStrategy(ref: StrategyRef, context?: ChangeContext): Promise<void> {
    return change(this, 'removeStrategy', { ref, context });
  }

  orderStrategies(
    ref: EnvironmentRef,
    input: readonly StrategyPlace[],
    context?: ChangeContext,
  ): Promise<readonly Strategy[]> {
    return change(this, 'orderStrategies', { ref, input, context });
  }

  enable(ref: EnvironmentRef, context?: ChangeContext): Promise<void> {
    return change(this, 'enable', { ref, context });
  }

  disable(ref: EnvironmentRef, context?: ChangeContext): Promise<void> {
    return change(this, 'disable', { ref, context });
  }

  configureEnvironment(
    ref: EnvironmentRef,
    input: EnvironmentInput<Own>,
    context?: ChangeContext,
  ): Promise<FlagEnvironment> {
    return change(this, 'configureEnvironment', { ref, input, context });
  }

  // Segments

  createSegment(input: NewSegment, context?: ChangeContext): Promise<Segment> {
    return change(this, 'createSegment', { input, context });
  }

  updateSegment(ref: SegmentRef, input: SegmentChanges, context?: ChangeContext): Promise<Segment> {
    return change(this, 'updateSegment', { ref, input, context });
  }

  deleteSegment(ref: SegmentRef, context?: ChangeContext): Promise<void> {
    return change(this, 'deleteSegment', { ref, context });
  }

  getSegment(ref: SegmentRef): Promise<Segment> {
    return run(this, { op: 'getSegment', members: SEGMENT, ref }, (engine) => segments.getSegment(engine, ref));
  }

  listSegments(query?: SegmentQuery, page?: PageQuery): Promise<ListPage<Segment>> {
    return run(this, { op: 'listSegments', members: ['strategy?'], ref: query, options: page }, (engine) =>
      segments.listSegments(engine, query, page),
    );
  }

  listSegmentUses(ref: SegmentRef): Promise<ListPage<SegmentUse>> {
    return run(this, { op: 'listSegmentUses', members: SEGMENT, ref }, (engine) =>
      segments.listSegmentUses(engine, ref),
    );
  }

  // Tokens

  createToken(input: NewToken, context?: TokenChangeContext): Promise<CreatedToken> {
    return change(this, 'createToken', { input, context });
  }

  updateToken(ref: TokenRef, input: TokenChanges, context?: TokenChangeContext): Promise<Token> {
    return change(this, 'updateToken', { ref, input, context });
  }

  rotateToken(ref: TokenRef, input: TokenRotation = {}, context?: TokenChangeContext): Promise<CreatedToken> {
    return change(this, 'rotateToken', { ref, input, context });
  }

  deleteToken(ref: TokenRef, context?: TokenChangeContext): Promise<void> {
    return change(this, 'deleteToken', { ref, context });
  }

  listTokens(page?: PageQuery): Promise<ListPage<ListedToken>> {
    return run(this, { op: 'listTokens' }, (engine) => tokens.listTokens(engine, page));
  }

  verifyToken(secret: string): Promise<Token | undefined> {
    return run(this, { op: 'verifyToken' }, (engine) => verifyToken(engine, secret));
  }

  verifyTokens(secrets: readonly string[]): Promise<readonly VerifiedToken[]> {
    return run(this, { op: 'verifyTokens' }, (engine) => verifyTokens(engine, secrets));
  }

  // Change requests

  /** Changes that wait for a time, for approval, or for both. */
  get changeRequests(): ChangeRequests<Own> {
    return namespaceOf(this, 'changeRequests', ChangeRequests<Own>);
  }

  /** The environments whose changes need approval. */
  get approvalPolicy(): ApprovalPolicies {
    return namespaceOf(this, 'approvalPolicy', ApprovalPolicies);
  }

  /**
   * Does once what is due, whatever the option `due.run` says: for cron jobs and tests. Applies change requests, and takes
   * the steps of rollouts. Returns the requests that it ended, and the rollouts that it moved. What it could not do,
   * because the storage failed for example, goes to `onError`.
   *
   * @throws FlagsError `storage_busy`, `storage_unavailable`
   * @example
   * const { items } = await flags.runDue();
   */
  runDue(): Promise<{ readonly items: readonly (ListedChangeRequest | Rollout | EndedRollout)[] }> {
    return run(this, { op: 'runDue' }, async ({ due, memory }) => {
      // A process that does not poll has to learn what others have started.
      await memory.refresh();
      return { items: (await due.runDue()) as readonly (ListedChangeRequest | Rollout | EndedRollout)[] };
    });
  }

  /** Percentages that change in steps. */
  get rollouts(): Rollouts {
    return namespaceOf(this, 'rollouts', Rollouts);
  }
}

/** Makes a namespace at its first use: a request makes flags of its own, and uses few of them. */
function namespaceOf<Namespace>(
  flags: { readonly [ENGINE]: FlagsEngine },
  name: string,
  Type: new (engine: FlagsEngine) => Namespace,
): Namespace {
  const value = new Type(flags[ENGINE]);
  Object.defineProperty(flags, name, { value });
  return value;
}
