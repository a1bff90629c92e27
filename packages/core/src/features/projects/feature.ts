import { describeKind } from '../../kernel/restorer.js';
import { memberOperations } from './members.operations.js';
import { projectDocuments } from './project.kind.js';
import { createDefaultProject, projectOperations } from './project.operations.js';
import { projectRestorer } from './project.restorer.js';

export const projectsFeature = {
  name: 'projects',
  kinds: [describeKind(projectDocuments, projectRestorer)],
  operations: { ...projectOperations, ...memberOperations },
  seed: createDefaultProject,
} as const;
