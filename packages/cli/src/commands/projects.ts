import type { Command } from 'commander';
import type { CommandIo } from '../output.js';
import { applyReviewed } from '../review.js';
import { type CommandSession, withSession } from '../session.js';

interface WireProject {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly featureCount: number;
}

/** Adds the commands for projects. */
export function addProjectCommands(program: Command, io: CommandIo): void {
  const projects = program.command('projects').description('list, create, rename and delete projects');
  projects
    .command('list', { isDefault: true })
    .description('list projects, with the number of their flags')
    .action((_options, command: Command) => withSession(io, command.optsWithGlobals(), listProjects));
  projects
    .command('create')
    .description('create a project')
    .argument('<id>')
    .option('--name <name>', 'its name; the id if absent')
    .option('--description <text>')
    .action((id: string, _options, command: Command) => {
      const { name = id, description } = command.opts<{ readonly name?: string; readonly description?: string }>();
      const input = { id, name, ...(description !== undefined && { description }) };
      return withSession(io, command.optsWithGlobals(), (session) =>
        applyReviewed(session, [{ op: 'createProject', input }]),
      );
    });
  projects
    .command('rename')
    .description('give a project another name; its id stays')
    .argument('<id>')
    .argument('<name>')
    .action((project: string, name: string, _options, command: Command) =>
      withSession(io, command.optsWithGlobals(), (session) =>
        applyReviewed(session, [{ op: 'updateProject', ref: { project }, input: { name } }]),
      ),
    );
  projects
    .command('delete')
    .description('delete a project without flags')
    .argument('<id>')
    .action((project: string, _options, command: Command) =>
      withSession(io, command.optsWithGlobals(), (session) =>
        applyReviewed(session, [{ op: 'deleteProject', ref: { project } }]),
      ),
    );
}

async function listProjects({ api, output }: CommandSession): Promise<void> {
  const { projects } = await api.get<{ readonly projects: readonly WireProject[] }>('/projects');
  output.json(projects);
  output.table(
    ['Id', 'Name', 'Flags', 'Description'],
    projects.map(({ id, name, featureCount, description }) => [id, name, String(featureCount), description]),
  );
}
