import { randomUUID } from 'node:crypto';
import type { FlagState } from '../../../packages/core/dist/flags/flag.js';
import type { ProjectState } from '../../../packages/core/dist/projects/project.js';
import { openBareDatabase, type Row } from './bare-database.js';

const ENVIRONMENT = 'production';

export type BareFlags = ReturnType<typeof openBareFlags>;

/** The operations on flags and members: each reads, checks and writes the same rows as the engine does. */
export function openBareFlags(path: string) {
  const bare = openBareDatabase(path);
  const { prepare, close, transaction, find, insert, update, append } = bare;
  const lastSeen = prepare('SELECT at FROM flags_last_seen WHERE flag = ?').pluck();
  const children = prepare("SELECT id, body FROM flags_documents WHERE kind = 'dependency' AND parent = ? ORDER BY id");
  const list = prepare(
    `SELECT id, parent, revision, summary, at
    FROM flags_documents LEFT JOIN flags_last_seen ON flag = id
    WHERE kind = 'flag' AND parent = ? ORDER BY id`,
  );

  function existing(name: string): { readonly revision: number; readonly flag: FlagState } {
    const found = find<FlagState>('flag', name);
    if (!found) throw new Error(`No flag ${name}`);
    return { revision: found.revision, flag: found.body };
  }

  function requireProject(id: string): { readonly revision: number; readonly body: ProjectState } {
    const found = find<ProjectState>('project', id);
    if (!found) throw new Error(`No project ${id}`);
    return found;
  }

  function create(project: string, name: string): void {
    if (find('flag', name)) throw new Error(`A flag ${name} exists`);
    requireProject(project);
    const flag = newFlag(project, name);
    insert(rowOf(flag));
    append({ type: 'flag-created', subject: rowOf(flag), project, environment: null, data: flag, before: null }, 1);
  }

  /** Changes one environment of a flag. */
  function configure(name: string, type: string, change: (environment: Environment) => Configured): void {
    transaction(() => {
      const { flag, revision } = existing(name);
      const environment = environmentOf(flag);
      const { next, data, before } = change(environment);
      const others = flag.environments.filter((one) => one !== environment);
      const row = rowOf({ ...flag, environments: [...others, next] });
      update(row, revision + 1);
      append({ type, subject: row, project: flag.project, environment: ENVIRONMENT, data, before }, revision + 1);
    });
  }

  return {
    close,
    createAtOnce: (project: string, names: readonly string[]) =>
      transaction(() => {
        for (const name of names) create(project, name);
      }),
    get: (name: string) => [existing(name), children.all(name), lastSeen.get(name)],
    setEnabled: (name: string, enabled: boolean) =>
      configure(name, enabled ? 'environment-enabled' : 'environment-disabled', (environment) => ({
        next: { ...environment, enabled },
        data: { enabled },
        before: { enabled: !enabled },
      })),
    addStrategy: (name: string, input: Omit<Strategy, 'id'>) =>
      configure(name, 'strategy-added', (environment) => {
        const strategy = { id: randomUUID(), ...input };
        return {
          next: { ...environment, strategies: [...environment.strategies, strategy] },
          data: strategy,
          before: null,
        };
      }),
    setVariants: (name: string, variants: FlagState['variants']) =>
      transaction(() => {
        const { flag, revision } = existing(name);
        const row = rowOf({ ...flag, variants });
        const { project } = flag;
        update(row, revision + 1);
        const [data, before] = [{ variants }, { variants: flag.variants }];
        append({ type: 'variants-updated', subject: row, project, environment: null, data, before }, revision + 1);
      }),
    list: (project: string) => [
      requireProject(project),
      (list.all(project) as { summary: string }[]).map((row) => ({ ...row, summary: JSON.parse(row.summary) })),
    ],
    addMember: (project: string, member: ProjectState['members'][number]) =>
      transaction(() => {
        const { body, revision } = requireProject(project);
        const { name, description, createdAt } = body;
        const members = [...body.members, member];
        const summary = { name, description, createdAt, memberCount: members.length };
        const row: Row = { kind: 'project', id: project, parent: null, summary, body: { ...body, members } };
        update(row, revision + 1);
        const event = { type: 'member-added', subject: row, project, environment: null, data: member, before: null };
        append(event, revision + 1);
      }),
  };
}

type Environment = FlagState['environments'][number];
type Strategy = Environment['strategies'][number];

interface Configured {
  readonly next: Environment;
  readonly data: unknown;
  readonly before: unknown;
}

function environmentOf(flag: FlagState): Environment {
  const environment = flag.environments.find(({ name }) => name === ENVIRONMENT);
  return environment ?? { name: ENVIRONMENT, enabled: false, strategies: [] };
}

function newFlag(project: string, name: string): FlagState {
  const createdAt = new Date().toISOString();
  const about = { name, project, description: '', type: 'release', stale: false, impressionData: false };
  return { ...about, archived: false, createdAt, variants: [], environments: [], labels: [], owner: null };
}

function rowOf(flag: FlagState): Row {
  const { type, stale, archived, createdAt } = flag;
  const enabledIn = flag.environments.filter(({ enabled }) => enabled).map(({ name }) => name);
  const summary = { type, stale, archived, createdAt, enabledIn, segments: [], parents: [] };
  return { kind: 'flag', id: flag.name, parent: flag.project, summary, body: flag };
}
