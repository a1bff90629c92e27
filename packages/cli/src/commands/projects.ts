import type { Project } from '@flags/http/wire';
import type { Command } from 'commander';
import type { CommandIo } from '../output.js';
import { withWays } from '../request-ways.js';
import { applyReviewed } from '../review.js';
import { type CommandSession, type CommonOptions, createAction } from '../session.js';

interface NewProjectOptions extends CommonOptions {
  readonly name?: string;
  readonly description?: string;
}

/** Adds the commands for projects. */
export function addProjectCommands(program: Command, io: CommandIo): void {
  const projects = program.command('projects').description('list, create, rename and delete projects');
  projects
    .command('list', { isDefault: true })
    .description('list projects, with the number of their flags')
    .action(createAction(io, listProjects));
  withWays(
    projects
      .command('create')
      .description('create a project')
      .argument('<id>')
      .option('--name <name>', 'its name; default: the id')
      .option('--description <text>'),
  ).action(
    createAction(io, (session: CommandSession<NewProjectOptions>, id: string) => {
      const { name = id, description } = session.options;
      const input = { id, name, ...(description !== undefined && { description }) };
      return applyReviewed(session, [{ op: 'createProject', input }]);
    }),
  );
  withWays(
    projects
      .command('rename')
      .description('rename a project; its id stays the same')
      .argument('<id>')
      .argument('<name>'),
  ).action(
    createAction(io, (session, project: string, name: string) =>
      applyReviewed(session, [{ op: 'updateProject', ref: { project }, input: { name } }]),
    ),
  );
  withWays(projects.command('delete').description('delete a project without flags').argument('<id>')).action(
    createAction(io, (session, project: string) => applyReviewed(session, [{ op: 'deleteProject', ref: { project } }])),
  );
}

async function listProjects({ api, output }: CommandSession): Promise<void> {
  const { projects } = await api.get<{ readonly projects: readonly Project[] }>('/projects');
  output.json(projects);
  output.table(
    ['Id', 'Name', 'Flags', 'Description'],
    projects.map(({ id, name, featureCount, description }) => [id, name, String(featureCount), description]),
  );
}
