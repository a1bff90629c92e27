import type { Project, ProjectOverview, ProjectSummary } from '@flags/core';
import { flagSummaryToWire } from './flag.js';

export function projectToWire({ id, name, description }: Project) {
  return { id, name, description };
}

export function projectListToWire(projects: readonly ProjectSummary[]) {
  return { version: 1, projects: projects.map(projectSummaryToWire) };
}

export function projectOverviewToWire({ name, description, flags, health, memberCount }: ProjectOverview) {
  return { version: 1, name, description, features: flags.map(flagSummaryToWire), health, members: memberCount };
}

function projectSummaryToWire(project: ProjectSummary) {
  const { id, name, description, createdAt, health, memberCount, flagCount } = project;
  return { id, name, description, createdAt, health, memberCount, featureCount: flagCount };
}
