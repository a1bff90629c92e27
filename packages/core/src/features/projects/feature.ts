import { describeObject } from '../../base/inputs.js';
import { describeKind } from '../../kernel/restorer.js';
import { memberOperations } from './members.operations.js';
import { projectDocuments } from './project.kind.js';
import { createDefaultProject, projectOperations } from './project.operations.js';
import { projectRestorer } from './project.restorer.js';
import { member, newProject, projectChanges } from './project.schema.js';

export const projectsFeature = {
  name: 'projects',
  kinds: [describeKind(projectDocuments, projectRestorer)],
  inputs: {
    member: describeObject(member),
    newProject: describeObject(newProject),
    projectChanges: describeObject(projectChanges),
  },
  operations: { ...projectOperations, ...memberOperations },
  seed: createDefaultProject,
} as const;
