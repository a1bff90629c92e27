import { edgeId, environmentOf, type FlagState, rolloutsIn, segmentsOf } from '../../src/features/flags/flag.js';
import type { SegmentRegistry, SegmentState } from '../../src/features/segments/segment.js';
import { REGISTRY } from '../../src/features.js';
import type { Flags } from '../../src/index.js';
import { stateAt } from '../../src/kernel/log/event-log.js';
import type { FlagsStorage } from '../../src/storage/port.js';

/** Everything that the interface shows, without revisions and metrics. */
export async function contentOf(flags: Flags) {
  const { items: projects } = await flags.listProjects();
  const shown = await Promise.all(
    projects.map(async ({ id: project }) => {
      const { revision, flags: live, ...rest } = await flags.getProject({ project });
      const { items: listed } = await flags.listFlags({ project, archived: true });
      const names = [...live, ...listed].map(({ name }) => name).sort();
      const details = await Promise.all(names.map((flag) => flags.getFlag({ project, flag })));
      const plain = details.map(({ revision: _revision, ...detail }) => detail);
      return {
        ...rest,
        members: (await flags.listMembers({ project })).items,
        archived: listed.map(({ revision: _revision, ...overview }) => overview),
        plain,
      };
    }),
  );
  const segments = (await flags.segments.list()).items.map(({ revision, ...segment }) => segment);
  return { shown, segments, evaluated: flags.configuration().flags };
}

/** Expects that the documents match the log, that references are valid, and that the indexes match. */
export async function expectConsistent(storage: FlagsStorage): Promise<void> {
  const kinds = ['flag', 'project', 'segment', 'dependency', 'segment-registry'];
  const all = (await Promise.all(kinds.map(async (kind) => storage.list({ kind, part: 'body' })))).flat();
  const bodiesOf = <State>(kind: string) =>
    all.filter(({ key }) => key.kind === kind).map(({ content }) => content as State);
  for (const { key, content } of all) {
    if (REGISTRY.hasHistory(key)) expect((await stateAt({ storage, registry: REGISTRY }, key))?.state).toEqual(content);
  }
  const flags = new Map(bodiesOf<FlagState>('flag').map((flag) => [flag.name, flag]));
  const segments = bodiesOf<SegmentState>('segment');
  const projects = new Set(bodiesOf<{ id: string }>('project').map(({ id }) => id));
  for (const flag of flags.values()) expectSoundFlag(flag, { flags, segments, projects });
  const edges = [...flags.values()].flatMap(({ name: child, ...flag }) =>
    flag.dependencies.map(({ flag: parent }) => edgeId({ parent, child })),
  );
  expect(all.filter(({ key }) => key.kind === 'dependency').map(({ key }) => key.id)).toEqual(edges.sort());
  const [registry] = bodiesOf<SegmentRegistry>('segment-registry');
  expect([...(registry?.names ?? [])].sort()).toEqual(segments.map(({ name }) => name).sort());
  for (const { id } of segments) expect(registry?.lastId).toBeGreaterThanOrEqual(id);
}

interface Surroundings {
  readonly flags: ReadonlyMap<string, FlagState>;
  readonly segments: readonly SegmentState[];
  readonly projects: ReadonlySet<string>;
}

function expectSoundFlag(flag: FlagState, { flags, segments, projects }: Surroundings): void {
  expect(projects).toContain(flag.project);
  for (const { enabled, strategies } of flag.environments) if (enabled) expect(strategies.length).toBeGreaterThan(0);
  for (const { environment, strategy } of rolloutsIn(flag)) {
    const { enabled, strategies } = environmentOf(flag, environment);
    expect([flag.archived, enabled, strategies.some(({ id }) => id === strategy)]).toEqual([false, true, true]);
  }
  for (const id of segmentsOf(flag)) {
    const segment = segments.find((one) => one.id === id);
    expect([undefined, flag.project]).toContain(segment?.project);
    expect(segment).toBeDefined();
  }
  if (flag.archived) return;
  for (const { flag: name } of flag.dependencies) {
    const parent = flags.get(name);
    expect(parent).toMatchObject({ project: flag.project, archived: false });
    expect(parent?.dependencies).toEqual([]);
  }
}
