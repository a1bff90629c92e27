import type { ListedSchedule, Schedule, SchedulePage } from '@flags/http/wire';
import { type Command, Option } from 'commander';
import { type CommandIo, showPlanned } from '../output.js';
import { confirmOrRefuse } from '../review.js';
import { type CommandSession, type CommonOptions, inSession } from '../session.js';

const STATES = ['pending', 'applied', 'failed', 'expired', 'cancelled'] as const;

interface ListOptions extends CommonOptions {
  readonly state: (typeof STATES)[number] | 'all';
  readonly flag?: string;
}

/** Adds the commands for changes that are applied at a time. `--at` of other commands makes them. */
export function addScheduleCommands(program: Command, io: CommandIo): void {
  const schedules = program.command('schedules').description('list and cancel changes that are applied at a time');
  schedules
    .command('list', { isDefault: true })
    .description('list schedules by time')
    .addOption(new Option('--state <state>', 'the state').choices([...STATES, 'all']).default('pending'))
    .option('--flag <flag>', 'only schedules of this flag')
    .action(inSession(io, listSchedules));
  schedules
    .command('cancel')
    .description('cancel a pending schedule')
    .argument('<id>')
    .action(inSession(io, cancelSchedule));
}

async function listSchedules({ api, output, options }: CommandSession<ListOptions>): Promise<void> {
  const { state, flag, project } = options;
  const found: ListedSchedule[] = [];
  for (let after: string | undefined; ; ) {
    const query = { state: state === 'all' ? undefined : state, flag, project, limit: 1000, after };
    const page: SchedulePage = await api.get<SchedulePage>('/schedules', query);
    found.push(...page.schedules);
    after = page.next;
    if (after === undefined) break;
  }
  const sorted = found.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  output.json(sorted);
  if (sorted.length === 0) return output.line(state === 'all' ? 'There are no schedules.' : `No schedule is ${state}.`);
  output.table(
    ['At', 'State', 'Flags', 'Environments', 'Author', 'Reason', 'Id'],
    sorted.map((one) => [
      one.at,
      stateIn(one),
      one.flags.map(({ flag: name }) => name).join(', '),
      one.environments.join(', '),
      one.author.name,
      one.reason ?? '',
      one.id,
    ]),
  );
}

function stateIn({ state, failure }: ListedSchedule): string {
  return failure === null ? state : `${state}: ${failure.code}`;
}

async function cancelSchedule(session: CommandSession, id: string): Promise<void> {
  const { api, output, options } = session;
  const path = `/schedules/${encodeURIComponent(id)}`;
  const { at, flags } = await api.get<Schedule>(path);
  const what = `the schedule of ${at}${flags.length > 0 ? ` for ${flags.map(({ flag }) => flag).join(', ')}` : ''}`;
  if (options.dryRun === true) return showPlanned(output, `Would cancel ${what}.`);
  await confirmOrRefuse(session, `Cancel ${what}?`);
  await api.delete(path, options.reason);
  output.json({ changed: true, cancelled: id });
  output.line(`Cancelled ${what}.`);
}
