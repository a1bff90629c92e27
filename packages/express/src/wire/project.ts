import type { Project, ProjectOverview, ProjectSummary } from '@flags/core';
import type { JsonChunks } from '../chunks.js';
import { jsonArray, jsonObject } from '../json-chunks.js';
import { flagSummaryToWire } from './flag.js';

export function projectToWire({ id, name, description }: Project) {
  return { id, name, description };
}

export function projectListToWire(projects: JsonChunks) {
  return jsonObject({ version: 1, projects });
}

export function projectOverviewToWire({ name, description, flags, health, memberCount }: ProjectOverview) {
  const features = jsonArray(flags, flagSummaryToWire);
  return jsonObject({ version: 1, name, description, features, health, members: memberCount });
}

export function projectSummaryToWire(project: ProjectSummary) {
  const { id, name, description, createdAt, health, memberCount, flagCount } = project;
  return { id, name, description, createdAt, health, memberCount, featureCount: flagCount };
}
