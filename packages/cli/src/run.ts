import { readFileSync } from 'node:fs';
import { isFlagsError } from '@flags/core';
import { printable } from '@flags/core/admin';
import { Command, CommanderError, type HelpConfiguration } from 'commander';
import { addChangeCommands, attachLabels } from './commands/changes.js';
import { addCompletionCommand } from './commands/completion.js';
import { addConsumerCommands } from './commands/consumers.js';
import { addDefinitionCommands } from './commands/definitions.js';
import { addEventsCommand } from './commands/events.js';
import { addFlagCommands } from './commands/flags.js';
import { addHistoryCommands } from './commands/history.js';
import { addLifecycleCommands } from './commands/lifecycle.js';
import { addProjectCommands } from './commands/projects.js';
import { addRequestCommands } from './commands/requests.js';
import { addRolloutCommands } from './commands/rollouts.js';
import { addSegmentCommands } from './commands/segments.js';
import { addServeCommand } from './commands/serve.js';
import { addStoreCommands } from './commands/store.js';
import { addTokenCommands } from './commands/tokens.js';
import { CommandError, type CommandIo, EXIT } from './output.js';
import { addCommonOptions } from './session.js';

const EXIT_CODES = `
Exit codes: 0 done, 1 refused or failed, 2 \`plan\` found changes, 3 not confirmed, 64 wrong command line.`;

/** The commands of every day, which `flags` alone shows. */
const EVERYDAY: ReadonlySet<string> = new Set(['list', 'show', 'create', 'on', 'off', 'rollout', 'history', 'why']);

const ALL_COMMANDS = `
All commands and options: flags --help
Set FLAGS_STORE, or add --store: a SQLite file, postgres://…, or the address of a server.`;

/** Runs a command line. Resolves to the exit code; errors are written to standard error. */
export async function run(args: readonly string[], io: CommandIo): Promise<number> {
  const program = createProgram(io);
  try {
    await program.parseAsync(attachLabels(args), { from: 'user' });
    return exitCodeOf(program);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (!(error instanceof CommandError) && !isFlagsError(error)) throw error;
    io.stderr.write(`${printable(error.message)}\n`);
    return error instanceof CommandError ? error.exitCode : EXIT.failed;
  }
}

function createProgram(io: CommandIo): Command {
  const program = new Command('flags')
    .description('Feature flags in a SQLite file, a PostgreSQL database, or a running server')
    .version(versionOf())
    .addHelpText('after', ({ error }) => (error ? ALL_COMMANDS : EXIT_CODES))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(printable(text)),
    });
  addCommonOptions(program, io);
  addFlagCommands(program, io);
  addChangeCommands(program, io);
  addRolloutCommands(program, io);
  addLifecycleCommands(program, io);
  addHistoryCommands(program, io);
  addEventsCommand(program, io);
  addRequestCommands(program, io);
  addProjectCommands(program, io);
  addSegmentCommands(program, io);
  addTokenCommands(program, io);
  addConsumerCommands(program, io);
  addDefinitionCommands(program, io);
  addStoreCommands(program, io);
  addServeCommand(program, io);
  addCompletionCommand(program, io);
  for (const command of program.commands) inheritSettings(command, program);
  return program.configureHelp(helpOf(program));
}

/** Without a command, the help has the commands of every day, and no options. */
function helpOf(program: Command): HelpConfiguration {
  const help = program.createHelp();
  let isShort = false;
  return {
    prepareContext(context) {
      isShort = context.error === true;
      help.prepareContext.call(this, context);
    },
    visibleOptions: (command) => (isShort ? [] : help.visibleOptions(command)),
    visibleCommands: (command) => help.visibleCommands(command).filter((one) => !isShort || EVERYDAY.has(one.name())),
  };
}

function versionOf(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** `exitOverride` does not reach existing subcommands, so each one gets the settings of the program. */
function inheritSettings(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inheritSettings(child, command);
}

/** A command that succeeds may set another exit code, as `plan` does. */
function exitCodeOf(program: Command): number {
  const { exitCode } = program.opts<{ exitCode?: number }>();
  return exitCode ?? EXIT.done;
}
