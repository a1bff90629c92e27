import type { NewProject, ProjectChanges } from '../../api/projects.js';
import type { ObjectSchema } from '../json-schema.js';
import { name, text } from './names.js';

export const newProject: ObjectSchema<NewProject> = {
  type: 'object',
  properties: { id: name, name: text(100), description: { type: 'string' } },
  required: ['id', 'name'],
};

export const projectChanges: ObjectSchema<ProjectChanges> = {
  type: 'object',
  properties: { name: text(100), description: { type: 'string' } },
};
