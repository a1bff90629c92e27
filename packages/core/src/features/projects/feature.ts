import { describeKind } from '../../kernel/feature.js';
import { projectDocuments } from './project.kind.js';
import { projectRestorer } from './project.restorer.js';

export const projectsFeature = { name: 'projects', kinds: [describeKind(projectDocuments, projectRestorer)] } as const;
