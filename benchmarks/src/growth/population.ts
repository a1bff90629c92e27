import type { Flags, StrategyInput } from '@flags/core';

/** How many flags, spread evenly over how many projects. */
export interface Population {
  readonly flags: number;
  readonly projects: number;
}

const AT_ONCE = 1_000;

const strategy: StrategyInput = {
  name: 'flexibleRollout',
  parameters: { rollout: '50', stickiness: 'default', groupId: 'checkout' },
  constraints: [{ contextName: 'country', operator: 'IN', values: ['no', 'se', 'dk'] }],
};

/** Every flag has a strategy in production and is on there. */
export async function populate(flags: Flags, { flags: count, projects }: Population): Promise<void> {
  await inParts(projects, (at) => flags.createProject({ id: projectAt(at), name: `Project ${at}` }));
  await inParts(count, async (at) => {
    const ref = placeAt(at, projects);
    const [label = ''] = ref.flag.split('.');
    await flags.createFlag({ project: ref.project }, { name: ref.flag, labels: [label], owner: 'ada@example.org' });
    await flags.addStrategy(ref, strategy);
    await flags.enable(ref);
  });
}

export function projectAt(at: number): string {
  return `project-${at}`;
}

/** The flag of this number, in production. */
export function placeAt(at: number, projects: number) {
  return { project: projectAt(at % projects), flag: `team-${at % 17}.flag-${at}`, environment: 'production' };
}

async function inParts(count: number, work: (at: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const part = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => from + at);
    await Promise.all(part.map(work));
  }
}
