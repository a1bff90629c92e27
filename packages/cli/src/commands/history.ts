import { describeConstraint, describeReason } from '@flags/core/admin';
import type { ChangeSet, Explained, HistoryEntry, HistoryPage, Plan, Playground } from '@flags/http/wire';
import type { Command } from 'commander';
import type { Api } from '../connection.js';
import { CommandError, type CommandIo, usageError } from '../output.js';
import { confirmPlan, deletionsIn, documentLines } from '../review.js';
import { type CommandSession, type CommonOptions, environmentOf, findFlag, inSession } from '../session.js';
import { countOf, MOST_PER_PAGE } from './flags.js';

/** Adds the commands for history and explanations. */
export function addHistoryCommands(program: Command, io: CommandIo): void {
  program
    .command('history')
    .description('list change sets, newest first: of one flag, a project, or all')
    .argument('[flag]')
    .option('--limit <number>', 'at most this many', '20')
    .action(inSession(io, showHistory));
  program
    .command('undo')
    .description('take a change set back, with a change set of its own')
    .argument('<id>', 'the id that the change or the history shows')
    .action(inSession(io, undo));
  program
    .command('why')
    .description('explain why a flag is on or off for a user')
    .argument('<flag>')
    .option('--user <id>', 'userId of the context')
    .option('--session <id>', 'sessionId of the context')
    .option('--context <properties...>', 'properties of the context: country=DE plan=pro')
    .action(inSession(io, explain));
}

interface HistoryOptions extends CommonOptions {
  readonly limit: string;
}

async function showHistory(session: CommandSession<HistoryOptions>, flag: string | undefined): Promise<void> {
  const { api, output, options } = session;
  const path = await historyPath(session, flag);
  const { changes, next } = await readHistory(api, path, countOf(options.limit, 'change sets'));
  output.json(changes);
  if (changes.length === 0) output.line('No changes.');
  for (const { id, at, actor, reason, events, differences } of changes) {
    output.line(`${output.colors.bold(at)}  ${actor}  ${output.colors.dim(id ?? '')}`);
    if (reason) output.line(`  ${reason}`);
    const states = events.flatMap(({ data, preData }) => [preData, data]);
    for (const line of documentLines(differences, { states })) output.line(`  ${line}`);
  }
  if (next !== undefined) output.line('There are older changes: raise --limit.');
}

/** A deleted or moved flag keeps its history in the old project, which the options name. */
async function historyPath(session: CommandSession, flag: string | undefined): Promise<string> {
  const { project } = session.options;
  if (flag === undefined)
    return project === undefined ? '/history' : `/projects/${encodeURIComponent(project)}/history`;
  const of = project ?? (await findFlag(session, flag)).project;
  return `/projects/${encodeURIComponent(of)}/features/${encodeURIComponent(flag)}/history`;
}

/** The maximum number of consecutive empty pages. An empty page means many change sets that the caller may not see. */
const MOST_EMPTY_PAGES = 500;

/** Reads pages until there are enough entries: a page ends at 1 MiB, and may be empty. */
async function readHistory(api: Api, path: string, limit: number): Promise<HistoryPage> {
  const changes: HistoryEntry[] = [];
  const cursors = new Set<string>();
  let next: string | undefined;
  let empty = 0;
  do {
    const page = { limit: Math.min(limit - changes.length, MOST_PER_PAGE), after: next };
    const found = await api.get<HistoryPage>(path, page);
    empty = found.changes.length === 0 ? empty + 1 : 0;
    for (const change of found.changes.slice(0, page.limit)) changes.push(change);
    next = found.next;
    if (next !== undefined && (cursors.has(next) || empty > MOST_EMPTY_PAGES)) {
      throw new CommandError(`${api.connection.name} sends an endless history. Is it the flags API?`);
    }
    if (next !== undefined) cursors.add(next);
  } while (next !== undefined && changes.length < limit);
  return { changes, ...(next !== undefined && { next }) };
}

async function undo(session: CommandSession, id: string): Promise<void> {
  const { api, output, options } = session;
  const path = `/changes/${encodeURIComponent(id)}`;
  const { at, actor, events } = await api.get<ChangeSet>(path);
  const plan = await api.post<Plan>(`${path}/undo/plan`);
  const { documents } = plan;
  output.line(`Takes back the change set of ${at} by ${actor}:`);
  if (!(await confirmPlan(session, { ...plan, deletions: deletionsIn(plan), json: { events, documents } }))) return;
  const { reason } = options;
  const changeSet = await api.change<ChangeSet>(`${path}/undo`, reason === undefined ? {} : { reason });
  output.json({ changed: changeSet.id !== null, changeSet });
  const done = output.colors.green(`Taken back. To take that back: flags undo ${changeSet.id ?? ''}`);
  output.line(changeSet.id === null ? 'Nothing to take back.' : done);
}

interface ContextOptions extends CommonOptions {
  readonly user?: string;
  readonly session?: string;
  readonly context?: readonly string[];
}

async function explain(session: CommandSession<ContextOptions>, flag: string): Promise<void> {
  const { api, output, options: given } = session;
  await findFlag(session, flag);
  const environment = await environmentOf(session);
  const properties = Object.fromEntries((given.context ?? []).map(splitProperty));
  const context = {
    ...(given.user !== undefined && { userId: given.user }),
    ...(given.session !== undefined && { sessionId: given.session }),
    ...(Object.keys(properties).length > 0 && { properties }),
  };
  const { features } = await api.post<Playground>('/playground', { environment, flag, context });
  const [explanation] = features;
  if (!explanation) throw new CommandError(`${flag} is archived: it is off everywhere.`);
  output.json(explanation);
  const { enabled, reason, variant, dependencies, strategies } = explanation;
  const state = enabled ? output.colors.green('on') : output.colors.red('off');
  output.line(`${flag} is ${state} in ${environment}: ${describeReason(reason)}`);
  if (variant.name !== 'disabled') output.line(`variant ${variant.name}`);
  for (const { dependency, holds } of dependencies) output.line(`  ${mark(holds)} ${describeDependency(dependency)}`);
  for (const strategy of strategies) {
    output.line(
      `  ${mark(strategy.holds)} ${strategy.name}${strategy.disabled ? ' (disabled)' : ''}${unknownOf(strategy)}${rolloutOf(strategy)}`,
    );
    for (const { constraint, value, holds } of strategy.constraints) {
      output.line(`    ${mark(holds)} ${describeConstraint(constraint)} (${value === undefined ? 'absent' : value})`);
    }
    for (const { id, holds } of strategy.segments) output.line(`    ${mark(holds)} segment ${id}`);
  }
}

/** Describes the required state of a parent: "needs payments on", "needs payments with the variant red or blue". */
function describeDependency({ feature, enabled, variants }: Explained['dependencies'][number]['dependency']): string {
  if (variants?.length) return `needs ${feature} with the variant ${variants.join(' or ')}`;
  return `needs ${feature} ${enabled === false ? 'off' : 'on'}`;
}

/** Names what the host does not know of a strategy. */
function unknownOf({ unknown = [] }: Explained['strategies'][number]): string {
  return unknown.map((text) => ` (${text})`).join('');
}

/** Describes the position of the context in a gradual rollout. */
function rolloutOf({ rollout }: Explained['strategies'][number]): string {
  if (rollout == null) return '';
  const { bucket, rollout: percentage, random } = rollout;
  if (random === true) return `: ${percentage}%, at random, because the context has no id`;
  return bucket == null ? `: ${percentage}%` : `: ${percentage}%, and this context is at ${bucket}`;
}

function splitProperty(text: string): [string, string] {
  const place = text.indexOf('=');
  if (place < 1) throw usageError(`${text} is not a property. Write it as country=DE.`);
  return [text.slice(0, place), text.slice(place + 1)];
}

function mark(holds: boolean): string {
  return holds ? '✓' : '✗';
}
