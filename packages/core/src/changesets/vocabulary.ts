import * as dependencies from '../flags/dependencies.operations.js';
import * as flags from '../flags/flag.operations.js';
import * as strategies from '../flags/strategies.operations.js';
import type { Flags } from '../flags.js';
import * as members from '../projects/members.operations.js';
import * as projects from '../projects/project.operations.js';
import * as segments from '../segments/segment.operations.js';
import * as tokens from '../tokens/token.operations.js';
import { type ChangeOperation, ofBoth, ofInput, ofRef } from './change-operations.js';
import type { ChangeOperationName } from './change-set.types.js';

const PROJECT = ['project'] as const;
const FLAG = ['project', 'flag'] as const;
const ANY_FLAG = ['flag', 'project?'] as const;
const ENVIRONMENT = ['project', 'flag', 'environment'] as const;
const STRATEGY = ['project', 'flag', 'environment', 'strategy'] as const;
const SEGMENT = ['segment'] as const;
const TOKEN = ['token'] as const;

/** The operations that a change set may contain. */
export const VOCABULARY: Readonly<Record<ChangeOperationName, ChangeOperation>> = {
  createProject: ofInput(projects.createProject),
  updateProject: ofBoth(projects.updateProject, PROJECT),
  deleteProject: ofRef(projects.deleteProject, PROJECT),
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
  setVariants: ofBoth(flags.setVariants, FLAG),
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
  patchFlag: ofBoth(flags.patchFlag, FLAG),
  changeLabels: ofBoth(flags.changeLabels, FLAG),
  patchStrategy: ofBoth(strategies.patchStrategy, STRATEGY),
  orderStrategies: ofBoth(strategies.orderStrategies, ENVIRONMENT),
  patchVariants: ofBoth(flags.patchVariants, FLAG),
  removeDependencies: ofRef(dependencies.removeDependencies, FLAG),
  createToken: ofInput(tokens.createToken),
  updateToken: ofBoth(tokens.updateToken, TOKEN),
  rotateToken: ofBoth(tokens.rotateToken),
  deleteToken: ofRef(tokens.deleteToken, TOKEN),
} satisfies Readonly<Record<string, ChangeOperation>>;

/** The members of the first argument of reads. Leaves out reads whose validators name the members. */
export const READ_REFERENCES: { readonly [Name in keyof Flags]?: readonly string[] } = {
  getProject: PROJECT,
  listMembers: PROJECT,
  listFlags: PROJECT,
  listArchivedFlags: ['project?'],
  getFlag: FLAG,
  locateFlag: ['flag'],
  listPossibleParents: FLAG,
  listSegments: ['strategy?'],
  getSegment: SEGMENT,
  listSegmentUses: SEGMENT,
  exportDefinitions: ['project?'],
  listApplications: ['strategies?'],
  getApplication: ['application'],
  deleteApplication: ['application'],
};
