import type { Awaitable, ChangeContext } from '../common.types.js';
import * as dependencies from '../flags/dependencies.operations.js';
import * as flags from '../flags/flag.operations.js';
import * as strategies from '../flags/strategies.operations.js';
import * as variants from '../flags/variants.operations.js';
import { deleteProject } from '../projects/delete-project.js';
import * as members from '../projects/members.operations.js';
import * as projects from '../projects/project.operations.js';
import * as segments from '../segments/segment.operations.js';
import * as tokens from '../tokens/token.operations.js';
import type { ChangeOperationName } from './change-set.types.js';
import type { Engine } from './engine.js';
import type { PreparedChange } from './set-runner.js';

/** The reference and the input of a change. */
export interface ChangeArguments {
  readonly ref?: unknown;
  readonly input?: unknown;
}

/** An operation that changes documents: as a method, and as an entry of a change set. */
export interface ChangeOperation {
  /** Validates the input, and creates ids and times once. */
  readonly prepare: (engine: Engine, change: ChangeArguments) => Awaitable<PreparedChange>;
  /** Splits the parameters of the method. */
  readonly split: (
    ...parameters: readonly unknown[]
  ) => ChangeArguments & { readonly context: ChangeContext | undefined };
  /** The members that the reference of a change has. */
  readonly ref: readonly (keyof typeof REF_MEMBERS)[];
}

/** The types of the members of references, and whether a change may leave them out. */
export const REF_MEMBERS = {
  project: 'string',
  flag: 'string',
  environment: 'string',
  strategy: 'string',
  segment: 'number',
  'project?': 'string',
} as const;

const PROJECT = ['project'] as const;
const FLAG = ['project', 'flag'] as const;
const ANY_FLAG = ['flag', 'project?'] as const;
const ENVIRONMENT = ['project', 'flag', 'environment'] as const;
const STRATEGY = ['project', 'flag', 'environment', 'strategy'] as const;
const SEGMENT = ['segment'] as const;

type Prepare<Parameters extends readonly unknown[]> = (
  engine: Engine,
  ...parameters: Parameters
) => Awaitable<PreparedChange>;

/** An operation `(input, context)`. The input is validated by the operation, so its type is not checked here. */
function ofInput<Input>(prepare: Prepare<[Input]>): ChangeOperation {
  return {
    prepare: (engine, { input }) => prepare(engine, input as Input),
    split: (input, context) => ({ input, context: context as ChangeContext | undefined }),
    ref: [],
  };
}

/** An operation `(ref, context)`. */
function ofRef<Ref>(prepare: Prepare<[Ref]>, ref: ChangeOperation['ref'] = []): ChangeOperation {
  return {
    prepare: (engine, change) => prepare(engine, change.ref as Ref),
    split: (given, context) => ({ ref: given, context: context as ChangeContext | undefined }),
    ref,
  };
}

/** An operation `(ref, input, context)`. */
function ofBoth<Ref, Input>(prepare: Prepare<[Ref, Input]>, ref: ChangeOperation['ref'] = []): ChangeOperation {
  return {
    prepare: (engine, change) => prepare(engine, change.ref as Ref, change.input as Input),
    split: (given, input, context) => ({ ref: given, input, context: context as ChangeContext | undefined }),
    ref,
  };
}

/** The operations that a change set may contain. */
export const VOCABULARY: Readonly<Record<ChangeOperationName, ChangeOperation>> = {
  createProject: ofInput(projects.createProject),
  updateProject: ofBoth(projects.updateProject, PROJECT),
  deleteProject: ofRef(deleteProject, PROJECT),
  createFlag: ofBoth(flags.createFlag, PROJECT),
  updateFlag: ofBoth(flags.updateFlag, FLAG),
  cloneFlag: ofBoth(flags.cloneFlag, FLAG),
  archiveFlag: ofRef(flags.archiveFlag, FLAG),
  reviveFlag: ofRef(flags.reviveFlag, ANY_FLAG),
  deleteFlag: ofRef(flags.deleteFlag, ANY_FLAG),
  moveFlag: ofBoth(flags.moveFlag, FLAG),
  addStrategy: ofBoth(strategies.addStrategy, ENVIRONMENT),
  updateStrategy: ofBoth(strategies.updateStrategy, STRATEGY),
  removeStrategy: ofRef(strategies.removeStrategy, STRATEGY),
  enable: ofRef(strategies.enable, ENVIRONMENT),
  disable: ofRef(strategies.disable, ENVIRONMENT),
  configureEnvironment: ofBoth(strategies.configureEnvironment, ENVIRONMENT),
  setVariants: ofBoth(variants.setVariants, FLAG),
  addDependency: ofBoth(dependencies.addDependency, FLAG),
  removeDependency: ofBoth(dependencies.removeDependency, FLAG),
  createSegment: ofInput(segments.createSegment),
  updateSegment: ofBoth(segments.updateSegment, SEGMENT),
  deleteSegment: ofRef(segments.deleteSegment, SEGMENT),
  addMember: ofBoth(members.addMember, PROJECT),
  changeMemberRole: ofBoth(members.changeMemberRole, PROJECT),
  removeMember: ofBoth(members.removeMember, PROJECT),
};

/** Operations that change documents, but not as part of a larger change set. */
export const SINGLE_ONLY = {
  patchFlag: ofBoth(flags.patchFlag),
  changeLabels: ofBoth(flags.changeLabels),
  patchStrategy: ofBoth(strategies.patchStrategy),
  patchVariants: ofBoth(variants.patchVariants),
  removeDependencies: ofRef(dependencies.removeDependencies),
  createToken: ofInput(tokens.createToken),
  rotateToken: ofBoth(tokens.rotateToken),
  deleteToken: ofRef(tokens.deleteToken),
} satisfies Readonly<Record<string, ChangeOperation>>;
