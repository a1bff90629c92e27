import { type Command, Option } from 'commander';
import { type CommandIo, usageError } from '../output.js';
import { type CommandSession, type CommonOptions, createAction } from '../session.js';
import { parseTime } from '../times.js';

/** Adds `events`, which writes the event log for an audit. */
export function addEventsCommand(program: Command, io: CommandIo): void {
  program
    .command('events')
    .description('write the events, newest first, as CSV or JSON Lines: of one flag, a project, or all')
    .argument('[flag]')
    .option('--since <time>', 'only from then on: 2026-05-01, 2026-05-01T09:00:00+02:00, or how long ago: 12h, 7d')
    .option('--until <time>', 'only until then')
    .option('--type <type>', 'only events of this type, such as feature-environment-enabled')
    .addOption(new Option('--format <format>', 'form of the output').choices(['csv', 'jsonl']).default('jsonl'))
    .action(createAction(io, writeEvents));
}

interface EventsOptions extends CommonOptions {
  readonly since?: string;
  readonly until?: string;
  readonly type?: string;
  readonly format: string;
}

async function writeEvents(session: CommandSession<EventsOptions>, flag: string | undefined): Promise<void> {
  const { api, output, options, isGiven } = session;
  const { since, until, type, format, project, actor } = options;
  if (output.isJson) throw usageError('events writes many lines: give --format jsonl instead of --json.');
  const from = timeOf('--since', since);
  const to = timeOf('--until', until);
  if (from !== undefined && to !== undefined && from > to) {
    throw usageError(`--since ${since} is after --until ${until}.`);
  }
  // The variable names the author of further changes.
  const createdBy = isGiven('actor') ? actor : undefined;
  await output.stream(api.read('/event-export', { format, feature: flag, project, type, from, to, createdBy }));
}

function timeOf(option: string, text: string | undefined): string | undefined {
  return text === undefined ? undefined : new Date(parseTime(option, text)).toISOString();
}
