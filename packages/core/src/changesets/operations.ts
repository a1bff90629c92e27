import type { Awaitable } from '../base/common.types.js';
import type { Engine, PreparedChange } from '../engine.js';
import { addDependency, removeDependency } from '../flags/dependencies.operations.js';
import * as flags from '../flags/flag.operations.js';
import * as strategies from '../flags/strategies.operations.js';
import * as members from '../projects/members.operations.js';
import * as projects from '../projects/project.operations.js';
import * as segments from '../segments/segment.operations.js';
import type { ChangeOperationName, ChangeVocabulary } from './change-set.types.js';

/** The types of the members of references. Names that end in `?` are optional. */
export const REFERENCE_MEMBERS = {
  project: 'string',
  flag: 'string',
  environment: 'string',
  strategy: 'string',
  segment: 'number',
  token: 'string',
  application: 'string',
  changeSet: 'string',
  'project?': 'string',
  'strategy?': 'string',
  'strategies?': 'object',
} as const;

export type ReferenceMember = keyof typeof REFERENCE_MEMBERS;

const PROJECT = ['project'] as const;
const FLAG = ['project', 'flag'] as const;
const ANY_FLAG = ['flag', 'project?'] as const;
const ENVIRONMENT = ['project', 'flag', 'environment'] as const;
const STRATEGY = ['project', 'flag', 'environment', 'strategy'] as const;
const SEGMENT = ['segment'] as const;
const TOKEN = ['token'] as const;
const CHANGE_SET = ['changeSet'] as const;

/** The members of the reference of each operation. Leaves out operations that have none, or validate it themselves. */
export const REFERENCES: Readonly<Record<string, readonly ReferenceMember[]>> = {
  updateProject: PROJECT,
  deleteProject: PROJECT,
  getProject: PROJECT,
  createFlag: PROJECT,
  listFlags: PROJECT,
  listArchivedFlags: ['project?'],
  getFlag: FLAG,
  locateFlag: ['flag'],
  updateFlag: FLAG,
  patchFlag: FLAG,
  changeLabels: FLAG,
  cloneFlag: FLAG,
  archiveFlag: FLAG,
  reviveFlag: ANY_FLAG,
  deleteFlag: ANY_FLAG,
  moveFlag: FLAG,
  addStrategy: ENVIRONMENT,
  updateStrategy: STRATEGY,
  patchStrategy: STRATEGY,
  orderStrategies: ENVIRONMENT,
  removeStrategy: STRATEGY,
  enable: ENVIRONMENT,
  disable: ENVIRONMENT,
  configureEnvironment: ENVIRONMENT,
  setVariants: FLAG,
  patchVariants: FLAG,
  addDependency: FLAG,
  removeDependency: FLAG,
  removeDependencies: FLAG,
  listPossibleParents: FLAG,
  updateSegment: SEGMENT,
  deleteSegment: SEGMENT,
  getSegment: SEGMENT,
  listSegments: ['strategy?'],
  listSegmentUses: SEGMENT,
  addMember: PROJECT,
  changeMemberRole: PROJECT,
  removeMember: PROJECT,
  listMembers: PROJECT,
  updateToken: TOKEN,
  rotateToken: TOKEN,
  deleteToken: TOKEN,
  getChangeSet: CHANGE_SET,
  listChangeSetProjects: CHANGE_SET,
  undoChangeSet: CHANGE_SET,
  planUndo: CHANGE_SET,
  previewUndo: CHANGE_SET,
  exportDefinitions: ['project?'],
  listApplications: ['strategies?'],
  getApplication: ['application'],
  deleteApplication: ['application'],
};

/** Validates the input of a change, and creates ids and times once. */
type Prepare<Op extends ChangeOperationName> = (
  engine: Engine,
  change: ChangeVocabulary<string>[Op],
) => Awaitable<PreparedChange>;

/** The operations that a change set may contain. */
export const OPERATIONS: { readonly [Op in ChangeOperationName]: Prepare<Op> } = {
  createProject: (engine, { input }) => projects.createProject(engine, input),
  updateProject: (engine, { ref, input }) => projects.updateProject(engine, ref, input),
  deleteProject: (engine, { ref }) => projects.deleteProject(engine, ref),
  createFlag: (engine, { ref, input }) => flags.createFlag(engine, ref, input),
  updateFlag: (engine, { ref, input }) => flags.updateFlag(engine, ref, input),
  cloneFlag: (engine, { ref, input }) => flags.cloneFlag(engine, ref, input),
  archiveFlag: (engine, { ref }) => flags.archiveFlag(engine, ref),
  reviveFlag: (engine, { ref }) => flags.reviveFlag(engine, ref),
  deleteFlag: (engine, { ref }) => flags.deleteFlag(engine, ref),
  moveFlag: (engine, { ref, input }) => flags.moveFlag(engine, ref, input),
  addStrategy: (engine, { ref, input }) => strategies.addStrategy(engine, ref, input),
  updateStrategy: (engine, { ref, input }) => strategies.updateStrategy(engine, ref, input),
  removeStrategy: (engine, { ref }) => strategies.removeStrategy(engine, ref),
  enable: (engine, { ref }) => strategies.enable(engine, ref),
  disable: (engine, { ref }) => strategies.disable(engine, ref),
  configureEnvironment: (engine, { ref, input }) => strategies.configureEnvironment(engine, ref, input),
  setVariants: (engine, { ref, input }) => flags.setVariants(engine, ref, input),
  addDependency: (engine, { ref, input }) => addDependency(engine, ref, input),
  removeDependency: (engine, { ref, input }) => removeDependency(engine, ref, input),
  createSegment: (engine, { input }) => segments.createSegment(engine, input),
  updateSegment: (engine, { ref, input }) => segments.updateSegment(engine, ref, input),
  deleteSegment: (engine, { ref }) => segments.deleteSegment(engine, ref),
  addMember: (engine, { ref, input }) => members.addMember(engine, ref, input),
  changeMemberRole: (engine, { ref, input }) => members.changeMemberRole(engine, ref, input),
  removeMember: (engine, { ref, input }) => members.removeMember(engine, ref, input),
};
