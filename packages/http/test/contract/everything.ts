import type { Flags, ProjectSummary } from '@flags/core';

/** The complete state that the interface shows, including events, to compare before and after. */
export async function everythingIn(flags: Flags): Promise<unknown> {
  const { items: archived } = await flags.listFlags({ archived: true });
  return {
    projects: await Promise.all((await flags.listProjects()).items.map((project) => projectIn(flags, project))),
    archived: await Promise.all(archived.map(({ project, name }) => flags.getFlag({ project, flag: name }))),
    segments: (await flags.segments.list()).items,
    tokens: (await flags.tokens.list()).items,
    events: await flags.events.list({ limit: 1000 }),
    counts: await flags.usage.count(),
    usage: (await flags.usage.listSeenFlags()).items,
    changeRequests: (await flags.changeRequests.list()).items,
    rollouts: (await flags.rollouts.list()).items,
    approvalPolicy: await flags.approvalPolicy.get(),
    applications: (await flags.applications.list()).items,
    consumers: (await flags.consumers.list()).items.map(({ name, position }) => ({ name, position })),
  };
}

async function projectIn(flags: Flags, { id }: ProjectSummary): Promise<unknown> {
  const project = { project: id };
  const overview = await flags.getProject(project);
  const details = overview.flags.map(({ name }) => flags.getFlag({ ...project, flag: name }));
  return { overview, details: await Promise.all(details), members: (await flags.listMembers(project)).items };
}
