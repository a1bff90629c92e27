import { describeKind } from '../../kernel/feature.js';
import { projectDocuments } from '../../projects/project.kind.js';
import { projectRestorer } from '../../projects/project.restorer.js';

export const projectsFeature = { name: 'projects', kinds: [describeKind(projectDocuments, projectRestorer)] } as const;
