import type { JsonSchema } from '@flags/core';
import { count, listOf, referTo, text, timestamp, version } from './common.js';
import { strictObject } from './strict-object.js';

const health: JsonSchema = {
  type: 'integer',
  minimum: 0,
  maximum: 100,
  description: '100 minus the percentage of flags that are stale or potentially stale.',
};

const project = { id: text, name: text, description: text };

export const projectSchemas = {
  Project: strictObject(project),

  ProjectSummary: strictObject({
    ...project,
    createdAt: timestamp,
    health,
    memberCount: count,
    featureCount: count,
  }),

  ProjectList: strictObject({ version, projects: listOf(referTo('ProjectSummary')) }),

  ProjectOverview: strictObject({
    name: text,
    description: text,
    features: listOf(referTo('FlagSummary')),
    health,
    members: count,
    version,
  }),
};
