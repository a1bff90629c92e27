import type {
  AnyFlagRef,
  ChangeContext,
  EnvironmentRef,
  FlagRef,
  JsonPatch,
  ListPage,
  PageQuery,
  ProjectRef,
  StrategyRef,
  TokenChangeContext,
} from './base/common.types.js';
import type { ChangeEngine } from './changesets/engine.js';
import { change, ENGINE, run } from './changesets/run-operation.js';
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
import { searchFlags } from './flags/flag-search.operations.js';
import type { FlagListOperations, FlagPage, FlagQuery } from './flags/flag-search.types.js';
import * as strategies from './flags/strategies.operations.js';
import type {
  EnvironmentInput,
  FlagEnvironment,
  Strategy,
  StrategyInput,
  StrategyOperations,
  StrategyPlace,
  StrategyReplacement,
} from './flags/strategy.types.js';
import type { Variant, VariantInput, VariantOperations } from './flags/variant.types.js';
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
  SegmentUse,
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
} from './tokens/token.types.js';
import { verifyToken } from './tokens/token-verification.operations.js';

/** The administration of projects, flags, segments and tokens. Every operation is a change, or a read. */
export class Administration
  implements
    ProjectOperations,
    MemberOperations,
    FlagOperations,
    FlagListOperations,
    VariantOperations,
    DependencyOperations,
    StrategyOperations,
    SegmentOperations,
    TokenOperations
{
  /** @internal A private member would make the types of the ESM and CommonJS builds incompatible. */
  readonly [ENGINE]: ChangeEngine;

  /** @internal */
  constructor(engine: ChangeEngine) {
    this[ENGINE] = engine;
  }

  // Projects and members

  createProject(input: NewProject, context?: ChangeContext): Promise<Project> {
    return change(this, { op: 'createProject', input, context }, (engine) => projects.createProject(engine, input));
  }

  updateProject(ref: ProjectRef, input: ProjectChanges, context?: ChangeContext): Promise<Project> {
    return change(this, { op: 'updateProject', ref, input, context }, (engine) =>
      projects.updateProject(engine, ref, input),
    );
  }

  deleteProject(ref: ProjectRef, context?: ChangeContext): Promise<void> {
    return change(this, { op: 'deleteProject', ref, context }, (engine) => projects.deleteProject(engine, ref));
  }

  listProjects(page?: PageQuery): Promise<ListPage<ProjectSummary>> {
    return run(this, { op: 'listProjects' }, (engine) => projects.listProjects(engine, page));
  }

  getProject(ref: ProjectRef): Promise<ProjectOverview> {
    return run(this, { op: 'getProject', ref }, (engine) => projects.getProject(engine, ref));
  }

  addMember(ref: ProjectRef, input: Member, context?: ChangeContext): Promise<void> {
    return change(this, { op: 'addMember', ref, input, context }, (engine) => members.addMember(engine, ref, input));
  }

  changeMemberRole(ref: ProjectRef, input: Member, context?: ChangeContext): Promise<void> {
    return change(this, { op: 'changeMemberRole', ref, input, context }, (engine) =>
      members.changeMemberRole(engine, ref, input),
    );
  }

  removeMember(ref: ProjectRef, input: Member, context?: ChangeContext): Promise<void> {
    return change(this, { op: 'removeMember', ref, input, context }, (engine) =>
      members.removeMember(engine, ref, input),
    );
  }

  listMembers(ref: ProjectRef): Promise<ListPage<Member>> {
    return run(this, { op: 'listMembers', ref }, (engine) => members.listMembers(engine, ref));
  }

  // Flags

  createFlag(ref: ProjectRef, input: NewFlag, context?: ChangeContext): Promise<Flag> {
    return change(this, { op: 'createFlag', ref, input, context }, (engine) => flags.createFlag(engine, ref, input));
  }

  getFlag(ref: FlagRef): Promise<FlagDetail> {
    return run(this, { op: 'getFlag', ref }, (engine) => flags.getFlag(engine, ref));
  }

  locateFlag(ref: { readonly flag: string }): Promise<FlagRef> {
    return run(this, { op: 'locateFlag', ref }, (engine) => flags.locateFlag(engine, ref));
  }

  listFlags(ref: ProjectRef, page?: PageQuery): Promise<ListPage<FlagSummary>> {
    return run(this, { op: 'listFlags', ref, options: page }, (engine) => flagLists.listFlags(engine, ref, page));
  }

  listArchivedFlags(ref?: Partial<ProjectRef>, page?: PageQuery): Promise<ListPage<ArchivedFlag>> {
    return run(this, { op: 'listArchivedFlags', ref, options: page }, (engine) =>
      flagLists.listArchivedFlags(engine, ref, page),
    );
  }

  searchFlags(query?: FlagQuery): Promise<FlagPage> {
    return run(this, { op: 'searchFlags' }, (engine) => searchFlags(engine, query));
  }

  updateFlag(ref: FlagRef, input: FlagChanges, context?: ChangeContext): Promise<Flag> {
    return change(this, { op: 'updateFlag', ref, input, context }, (engine) => flags.updateFlag(engine, ref, input));
  }

  patchFlag(ref: FlagRef, input: JsonPatch, context?: ChangeContext): Promise<Flag> {
    return change(this, { op: 'patchFlag', ref, input, context }, (engine) => flags.patchFlag(engine, ref, input));
  }

  changeLabels(ref: FlagRef, input: LabelChanges, context?: ChangeContext): Promise<Flag> {
    return change(this, { op: 'changeLabels', ref, input, context }, (engine) =>
      flags.changeLabels(engine, ref, input),
    );
  }

  cloneFlag(ref: FlagRef, input: { readonly name: string }, context?: ChangeContext): Promise<Flag> {
    return change(this, { op: 'cloneFlag', ref, input, context }, (engine) => flags.cloneFlag(engine, ref, input));
  }

  archiveFlag(ref: FlagRef, context?: ChangeContext): Promise<void> {
    return change(this, { op: 'archiveFlag', ref, context }, (engine) => flags.archiveFlag(engine, ref));
  }

  reviveFlag(ref: AnyFlagRef, context?: ChangeContext): Promise<Flag> {
    return change(this, { op: 'reviveFlag', ref, context }, (engine) => flags.reviveFlag(engine, ref));
  }

  deleteFlag(ref: AnyFlagRef, context?: ChangeContext): Promise<void> {
    return change(this, { op: 'deleteFlag', ref, context }, (engine) => flags.deleteFlag(engine, ref));
  }

  moveFlag(ref: FlagRef, input: ProjectRef, context?: ChangeContext): Promise<Flag> {
    return change(this, { op: 'moveFlag', ref, input, context }, (engine) => flags.moveFlag(engine, ref, input));
  }

  setVariants(ref: FlagRef, input: readonly VariantInput[], context?: ChangeContext): Promise<readonly Variant[]> {
    return change(this, { op: 'setVariants', ref, input, context }, (engine) => flags.setVariants(engine, ref, input));
  }

  patchVariants(ref: FlagRef, input: JsonPatch, context?: ChangeContext): Promise<readonly Variant[]> {
    return change(this, { op: 'patchVariants', ref, input, context }, (engine) =>
      flags.patchVariants(engine, ref, input),
    );
  }

  addDependency(ref: FlagRef, input: DependencyInput, context?: ChangeContext): Promise<Dependency> {
    return change(this, { op: 'addDependency', ref, input, context }, (engine) =>
      dependencies.addDependency(engine, ref, input),
    );
  }

  removeDependency(ref: FlagRef, input: { readonly flag: string }, context?: ChangeContext): Promise<void> {
    return change(this, { op: 'removeDependency', ref, input, context }, (engine) =>
      dependencies.removeDependency(engine, ref, input),
    );
  }

  removeDependencies(ref: FlagRef, context?: ChangeContext): Promise<void> {
    return change(this, { op: 'removeDependencies', ref, context }, (engine) =>
      dependencies.removeDependencies(engine, ref),
    );
  }

  listPossibleParents(ref: FlagRef, page?: PageQuery): Promise<ListPage<string>> {
    return run(this, { op: 'listPossibleParents', ref, options: page }, (engine) =>
      dependencies.listPossibleParents(engine, ref, page),
    );
  }

  // Strategies

  addStrategy(ref: EnvironmentRef, input: StrategyInput, context?: ChangeContext): Promise<Strategy> {
    return change(this, { op: 'addStrategy', ref, input, context }, (engine) =>
      strategies.addStrategy(engine, ref, input),
    );
  }

  updateStrategy(ref: StrategyRef, input: StrategyReplacement, context?: ChangeContext): Promise<Strategy> {
    return change(this, { op: 'updateStrategy', ref, input, context }, (engine) =>
      strategies.updateStrategy(engine, ref, input),
    );
  }

  patchStrategy(ref: StrategyRef, input: JsonPatch, context?: ChangeContext): Promise<Strategy> {
    return change(this, { op: 'patchStrategy', ref, input, context }, (engine) =>
      strategies.patchStrategy(engine, ref, input),
    );
  }

  removeStrategy(ref: StrategyRef, context?: ChangeContext): Promise<void> {
    return change(this, { op: 'removeStrategy', ref, context }, (engine) => strategies.removeStrategy(engine, ref));
  }

  orderStrategies(
    ref: EnvironmentRef,
    input: readonly StrategyPlace[],
    context?: ChangeContext,
  ): Promise<readonly Strategy[]> {
    return change(this, { op: 'orderStrategies', ref, input, context }, (engine) =>
      strategies.orderStrategies(engine, ref, input),
    );
  }

  enable(ref: EnvironmentRef, context?: ChangeContext): Promise<void> {
    return change(this, { op: 'enable', ref, context }, (engine) => strategies.enable(engine, ref));
  }

  disable(ref: EnvironmentRef, context?: ChangeContext): Promise<void> {
    return change(this, { op: 'disable', ref, context }, (engine) => strategies.disable(engine, ref));
  }

  configureEnvironment(
    ref: EnvironmentRef,
    input: EnvironmentInput,
    context?: ChangeContext,
  ): Promise<FlagEnvironment> {
    return change(this, { op: 'configureEnvironment', ref, input, context }, (engine) =>
      strategies.configureEnvironment(engine, ref, input),
    );
  }

  // Segments

  createSegment(input: NewSegment, context?: ChangeContext): Promise<Segment> {
    return change(this, { op: 'createSegment', input, context }, (engine) => segments.createSegment(engine, input));
  }

  updateSegment(ref: SegmentRef, input: SegmentChanges, context?: ChangeContext): Promise<Segment> {
    return change(this, { op: 'updateSegment', ref, input, context }, (engine) =>
      segments.updateSegment(engine, ref, input),
    );
  }

  deleteSegment(ref: SegmentRef, context?: ChangeContext): Promise<void> {
    return change(this, { op: 'deleteSegment', ref, context }, (engine) => segments.deleteSegment(engine, ref));
  }

  getSegment(ref: SegmentRef): Promise<Segment> {
    return run(this, { op: 'getSegment', ref }, (engine) => segments.getSegment(engine, ref));
  }

  listSegments(query?: SegmentQuery, page?: PageQuery): Promise<ListPage<Segment>> {
    return run(this, { op: 'listSegments', ref: query, options: page }, (engine) =>
      segments.listSegments(engine, query, page),
    );
  }

  listSegmentUses(ref: SegmentRef): Promise<ListPage<SegmentUse>> {
    return run(this, { op: 'listSegmentUses', ref }, (engine) => segments.listSegmentUses(engine, ref));
  }

  // Tokens

  createToken(input: NewToken, context?: TokenChangeContext): Promise<CreatedToken> {
    return change(this, { op: 'createToken', input, context }, (engine) => tokens.createToken(engine, input));
  }

  updateToken(ref: TokenRef, input: TokenChanges, context?: TokenChangeContext): Promise<Token> {
    return change(this, { op: 'updateToken', ref, input, context }, (engine) => tokens.updateToken(engine, ref, input));
  }

  rotateToken(ref: TokenRef, input: TokenRotation = {}, context?: TokenChangeContext): Promise<CreatedToken> {
    return change(this, { op: 'rotateToken', ref, input, context }, (engine) => tokens.rotateToken(engine, ref, input));
  }

  deleteToken(ref: TokenRef, context?: TokenChangeContext): Promise<void> {
    return change(this, { op: 'deleteToken', ref, context }, (engine) => tokens.deleteToken(engine, ref));
  }

  listTokens(page?: PageQuery): Promise<ListPage<ListedToken>> {
    return run(this, { op: 'listTokens' }, (engine) => tokens.listTokens(engine, page));
  }

  verifyToken(secret: string): Promise<Token | undefined> {
    return run(this, { op: 'verifyToken' }, (engine) => verifyToken(engine, secret));
  }
}
