import type { FlagDetail, Flags, ProjectSummary } from '../../src/index.js';

/** All that the interface shows of an engine's state, to be compared before and after. */
export async function everythingIn(flags: Flags): Promise<unknown> {
  const projects = await flags.listProjects();
  return {
    projects: await Promise.all(projects.map((project) => projectIn(flags, project))),
    archived: await Promise.all(
      (await flags.listArchivedFlags()).map(({ project, name }) => flags.getFlag({ project, flag: name })),
    ),
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
  const details: FlagDetail[] = await Promise.all(
    overview.flags.map(({ name }) => flags.getFlag({ ...project, flag: name })),
  );
  return { overview, details, members: await flags.listMembers(project) };
}
