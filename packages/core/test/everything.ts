import type { FlagDetail, Flags, ProjectSummary } from '../src/index.js';

/** The complete state that the interface shows, to compare before and after. */
export async function everythingIn(flags: Flags): Promise<unknown> {
  // Rollouts are listed from memory.
  await flags.refresh();
  const { items: projects } = await flags.listProjects();
  return {
    projects: await Promise.all(projects.map((project) => projectIn(flags, project))),
    archived: await Promise.all(
      (await flags.listFlags({ archived: true })).items.map(({ project, name }) =>
        flags.getFlag({ project, flag: name }),
      ),
    ),
    segments: (await flags.segments.list()).items,
    tokens: (await flags.tokens.list()).items,
    events: await flags.events.list({ limit: 1000 }),
    counts: await flags.usage.count(),
    usage: (await flags.usage.listSeenFlags()).items,
    changeRequests: (await flags.changeRequests.list()).items,
    approvalPolicy: await flags.approvalPolicy.get(),
    rollouts: (await flags.rollouts.list()).items,
    applications: (await flags.applications.list()).items,
  };
}

async function projectIn(flags: Flags, { id }: ProjectSummary): Promise<unknown> {
  const project = { project: id };
  const overview = await flags.getProject(project);
  const details: FlagDetail[] = await Promise.all(
    overview.flags.map(({ name }) => flags.getFlag({ ...project, flag: name })),
  );
  return { overview, details, members: (await flags.listMembers(project)).items };
}
