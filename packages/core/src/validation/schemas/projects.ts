import type { NewProject, ProjectChanges } from '../../api/projects.js';
import type { ObjectSchema } from '../json-schema.js';
import { name, possiblyEmptyText, text } from './names.js';

const description = possiblyEmptyText(1000);

export const newProject: ObjectSchema<NewProject> = {
  type: 'object',
  properties: { id: name, name: text(100), description },
  required: ['id', 'name'],
};

export const projectChanges: ObjectSchema<ProjectChanges> = {
  type: 'object',
  properties: { name: text(100), description },
};
