import type { NewProject, ProjectChanges } from '../../api/projects.js';
import type { ObjectSchema } from '../json-schema.js';
import { LIMITS } from '../limits.js';
import { name, possiblyEmptyText, text } from './names.js';

const description = possiblyEmptyText(LIMITS.shortDescription);

export const newProject: ObjectSchema<NewProject> = {
  type: 'object',
  properties: { id: name, name: text(LIMITS.label), description },
  required: ['id', 'name'],
};

export const projectChanges: ObjectSchema<ProjectChanges> = {
  type: 'object',
  properties: { name: text(LIMITS.label), description },
};
