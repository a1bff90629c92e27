import type { Command } from 'commander';
import type { Api } from '../connection.js';
import { describeConstraint, describeEvent, subjectOf } from '../describe.js';
import { CommandError, type CommandIo, usageError } from '../output.js';
import {
  confirmChange,
  deletionsIn,
  describePlan,
  effectLines,
  effectsIn,
  type WireChangeSet,
  type WirePlan,
} from '../review.js';
import { type CommandSession, environmentOf, findFlag, withSession } from '../session.js';
import { countOf, MOST_PER_PAGE } from './flags.js';

interface WireHistory {
  readonly changes: readonly WireChangeSet[];
  readonly next?: string;
}

interface WirePlayground {
  readonly features: readonly WireExplanation[];
}

interface WireDependency {
  readonly feature: string;
  readonly enabled?: boolean;
  readonly variants?: readonly string[];
}

interface WireExplanation {
  readonly name: string;
  readonly enabled: boolean;
  readonly reason: string;
  readonly variant: { readonly name: string };
  readonly dependencies: readonly { readonly dependency: WireDependency; readonly holds: boolean }[];
  readonly strategies: readonly {
    readonly name: string;
    readonly holds: boolean;
    readonly disabled: boolean;
    readonly constraints: readonly { readonly constraint: unknown; readonly value?: string; readonly holds: boolean }[];
    readonly segments: readonly { readonly id: number; readonly holds: boolean }[];
    readonly rollout?: { readonly bucket?: number; readonly rollout: number; readonly random?: boolean };
  }[];
}

/** Adds the commands for history and explanations. */
export function addHistoryCommands(program: Command, io: CommandIo): void {
  program
    .command('history')
    .description('list change sets, newest first: of one flag, a project, or all')
    .argument('[flag]')
    .option('--limit <number>', 'at most this many', '20')
    .action((flag: string | undefined, _options, command: Command) =>
      withSession(io, command.optsWithGlobals(), (session) => showHistory(session, flag, command.opts().limit)),
    );
  program
    .command('undo')
    .description('take a change set back, with a change set of its own')
    .argument('<id>', 'the id that the change or the history shows')
    .action((id: string, _options, command: Command) =>
      withSession(io, command.optsWithGlobals(), (session) => undo(session, id)),
    );
  program
    .command('why')
    .description('explain why a flag is on or off for a user')
    .argument('<flag>')
    .option('--user <id>', 'userId of the context')
    .option('--session <id>', 'sessionId of the context')
    .option('--context <properties...>', 'properties of the context: country=DE plan=pro')
    .action((flag: string, _options, command: Command) =>
      withSession(io, command.optsWithGlobals(), (session) => explain(session, flag, command.opts())),
    );
}

async function showHistory(session: CommandSession, flag: string | undefined, limit: string): Promise<void> {
  const { api, output } = session;
  const path = await historyPath(session, flag);
  const { changes, next } = await readHistory(api, path, countOf(limit, 'change sets'));
  output.json(changes);
  if (changes.length === 0) output.line('No changes.');
  for (const { id, at, actor, reason, events } of changes) {
    output.line(`${output.colors.bold(at)}  ${actor}  ${output.colors.dim(id ?? '')}`);
    if (reason) output.line(`  ${reason}`);
    for (const event of events) {
      output.line(`  ${subjectOf(event)} ${describeEvent(event)}`);
    }
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
async function readHistory(api: Api, path: string, limit: number): Promise<WireHistory> {
  const changes: WireChangeSet[] = [];
  const cursors = new Set<string>();
  let next: string | undefined;
  let empty = 0;
  do {
    const page = { limit: Math.min(limit - changes.length, MOST_PER_PAGE), after: next };
    const found = await api.get<WireHistory>(path, page);
    empty = found.changes.length === 0 ? empty + 1 : 0;
    for (const change of found.changes.slice(0, page.limit)) changes.push(change);
    next = found.next;
    if (next !== undefined && (cursors.has(next) || empty > MOST_EMPTY_PAGES)) {
      throw new CommandError(`${api.connection.name} gives a history without an end. Is it the flags API?`);
    }
    if (next !== undefined) cursors.add(next);
  } while (next !== undefined && changes.length < limit);
  return { changes, ...(next !== undefined && { next }) };
}

async function undo(session: CommandSession, id: string): Promise<void> {
  const { api, output, options } = session;
  const path = `/changes/${encodeURIComponent(id)}`;
  const { at, actor, events } = await api.get<WireChangeSet>(path);
  const plan = await api.post<WirePlan>(`${path}/undo/plan`);
  const { documents } = plan;
  const { effects, hiddenEffects } = effectsIn(session, plan);
  output.line(`Takes back the change set of ${at} by ${actor}:`);
  for (const line of [...describePlan(plan), ...effectLines(session, effects)]) output.line(line);
  if (options.dryRun === true) {
    output.line('Nothing has changed: this is what the command would do.');
    output.json({ changed: false, events, documents, effects, hiddenEffects });
    return;
  }
  await confirmChange(session, { effects, hiddenEffects, deletions: deletionsIn(plan) });
  const { reason } = options;
  const changeSet = await api.post<WireChangeSet>(`${path}/undo`, reason === undefined ? {} : { reason });
  output.json({ changed: changeSet.id !== null, changeSet });
  const done = output.colors.green(`Taken back. To take that back: flags undo ${changeSet.id ?? ''}`);
  output.line(changeSet.id === null ? 'Nothing to take back.' : done);
}

interface ContextOptions {
  readonly user?: string;
  readonly session?: string;
  readonly context?: readonly string[];
}

async function explain(session: CommandSession, flag: string, given: ContextOptions): Promise<void> {
  const { api, output } = session;
  await findFlag(session, flag);
  const environment = await environmentOf(session);
  const properties = Object.fromEntries((given.context ?? []).map(splitProperty));
  const context = {
    ...(given.user !== undefined && { userId: given.user }),
    ...(given.session !== undefined && { sessionId: given.session }),
    ...(Object.keys(properties).length > 0 && { properties }),
  };
  const { features } = await api.post<WirePlayground>('/playground', { environment, flag, context });
  const [explanation] = features;
  if (!explanation) throw new CommandError(`${flag} is archived: it is off everywhere.`);
  output.json(explanation);
  const { enabled, reason, variant, dependencies, strategies } = explanation;
  const state = enabled ? output.colors.green('on') : output.colors.red('off');
  output.line(`${flag} is ${state} in ${environment}: ${REASONS[reason] ?? reason.replaceAll('_', ' ')}`);
  if (variant.name !== 'disabled') output.line(`variant ${variant.name}`);
  for (const { dependency, holds } of dependencies) output.line(`  ${mark(holds)} ${describeDependency(dependency)}`);
  for (const strategy of strategies) {
    output.line(
      `  ${mark(strategy.holds)} ${strategy.name}${strategy.disabled ? ' (disabled)' : ''}${rolloutOf(strategy)}`,
    );
    for (const { constraint, value, holds } of strategy.constraints) {
      output.line(`    ${mark(holds)} ${describeConstraint(constraint)} (${value === undefined ? 'absent' : value})`);
    }
    for (const { id, holds } of strategy.segments) output.line(`    ${mark(holds)} segment ${id}`);
  }
}

/** Describes the required state of a parent: "needs payments on", "needs payments with the variant red or blue". */
function describeDependency({ feature, enabled, variants = [] }: WireDependency): string {
  if (variants.length > 0) return `needs ${feature} with the variant ${variants.join(' or ')}`;
  return `needs ${feature} ${enabled === false ? 'off' : 'on'}`;
}

const REASONS: Readonly<Record<string, string>> = {
  dependency: 'a parent is not as needed',
  no_strategy_holds: 'no strategy holds',
  strategy: 'a strategy holds',
};

/** Describes the position of the context in a gradual rollout. */
function rolloutOf({ rollout }: WireExplanation['strategies'][number]): string {
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
