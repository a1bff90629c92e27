import type { Flags, ProjectSummary } from '@flags/core';

/** All that the interface shows of an engine's state, events included, to be compared before and after. */
export async function everythingIn(flags: Flags): Promise<unknown> {
  const archived = await flags.listArchivedFlags();
  return {
    projects: await Promise.all((await flags.listProjects()).map((project) => projectIn(flags, project))),
    archived: await Promise.all(archived.map(({ project, name }) => flags.getFlag({ project, flag: name }))),
    segments: await flags.listSegments(),
    tokens: await flags.listTokens(),
    events: await flags.listEvents({ limit: 1000 }),
    counts: await flags.countEvaluations(),
    usage: await flags.listSeenFlags(),
    applications: await flags.listApplications(),
  };
}

async function projectIn(flags: Flags, { id }: ProjectSummary): Promise<unknown> {
  const project = { project: id };
  const overview = await flags.getProject(project);
  const details = overview.flags.map(({ name }) => flags.getFlag({ ...project, flag: name }));
  return { overview, details: await Promise.all(details), members: await flags.listMembers(project) };
}
