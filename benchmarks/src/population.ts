import type { Change, Flags } from '@flags/core';

/** The number of flags, and of the projects over which they are spread evenly. */
export interface Population {
  readonly flags: number;
  readonly projects: number;
}

export type Place = ReturnType<typeof placeAt>;

/** Flags of a change set, which takes at most 500 changes. */
const AT_ONCE = 150;
const ENVIRONMENTS = ['development', 'production'];

/** Creates flags that are on in two environments, each with a label and a rollout to three countries. */
export async function populate(flags: Flags, { flags: count, projects }: Population): Promise<void> {
  for (let at = 1; at < projects; at++) await flags.createProject({ id: projectAt(at), name: `Project ${at}` });
  for (let first = 0; first < count; first += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, at) => first + at);
    await flags.apply(numbers.flatMap((at) => changesFor(placeAt(at, projects), at)));
  }
}

export function projectAt(at: number): string {
  return at === 0 ? 'default' : `project-${at}`;
}

/** The flag of this number, in production. All names have one length, so that responses about them have one size. */
export function placeAt(at: number, projects = 1) {
  return { project: projectAt(at % projects), flag: `flag-${String(at).padStart(5, '0')}`, environment: 'production' };
}

export function rolloutOf(flag: string, percentage = 50) {
  return {
    name: 'flexibleRollout',
    parameters: { rollout: percentage, stickiness: 'default', groupId: flag },
  } as const;
}

function changesFor({ project, flag }: Place, at: number): readonly Change[] {
  const about = { description: `What ${flag} is for, in a sentence.`, labels: [`team-${at % 17}`] };
  const strategy = {
    ...rolloutOf(flag),
    constraints: [{ contextName: 'country', operator: 'IN', values: ['no', 'se', 'dk'] } as const],
  };
  return [
    { op: 'createFlag', ref: { project }, input: { name: flag, ...about } },
    ...ENVIRONMENTS.map(
      (environment): Change => ({
        op: 'configureEnvironment',
        ref: { project, flag, environment },
        input: { enabled: true, strategies: [strategy] },
      }),
    ),
  ];
}
