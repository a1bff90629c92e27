import { LIMITS } from '../../base/limits.js';
import { nameBesideAll, type ObjectSchema, positiveInteger, possiblyEmptyText, text } from '../../base/primitives.js';
import type { Member, NewProject, ProjectChanges } from './project.types.js';

const description = possiblyEmptyText(LIMITS.shortDescription);

export const newProject: ObjectSchema<NewProject> = {
  type: 'object',
  properties: { id: nameBesideAll, name: text(LIMITS.label), description },
  required: ['id', 'name'],
};

export const projectChanges: ObjectSchema<ProjectChanges> = {
  type: 'object',
  properties: { name: text(LIMITS.label), description },
};

export const member: ObjectSchema<Member> = {
  type: 'object',
  properties: { userId: positiveInteger, roleId: positiveInteger },
  required: ['userId', 'roleId'],
};
