import {
  describeConstraint,
  describeReason,
  describeRequestEvent,
  describeStrategy,
  nameStrategies,
  operandOf,
  strategyName,
} from '@flags/core/admin';
import type {
  ChangeSet,
  ExplainedConstraint,
  ExplainedFlag,
  ExplainedStrategy,
  FlagDetail,
  HistoryEntry,
  HistoryPage,
  ListedFlag,
  Plan,
  Playground,
} from '@flags/http/wire';
import type { Command } from 'commander';
import type { Api } from '../api.js';
import { CommandError, type CommandIo, usageError } from '../output.js';
import { assertWays, isRequested, requestChanges, withWays } from '../request-ways.js';
import { confirmPlan, documentLines, readNames, toReviewedPlan } from '../review.js';
import {
  type CommandSession,
  type CommonOptions,
  createAction,
  environmentOf,
  findFlag,
  MOST_PER_PAGE,
  readSegmentNames,
} from '../session.js';
import { parseTime } from '../times.js';
import { countOf, readFlag, stateIn } from './flags.js';

/** Adds the commands for history and explanations. */
export function addHistoryCommands(program: Command, io: CommandIo): void {
  program
    .command('history')
    .description('list change sets, newest first: of one flag, a project, or all')
    .argument('[flag]')
    .option('--since <time>', 'only from then on: 2026-05-01, 2026-05-01T09:00:00+02:00, or how long ago: 12h, 7d')
    .option('--until <time>', 'only until then')
    .option('--limit <number>', 'at most this many', '20')
    .action(createAction(io, showHistory));
  withWays(
    program
      .command('undo')
      .description('undo a change set with a new change set')
      .argument('<id>', 'the id of the change set, which the change and the history show'),
  ).action(createAction(io, undo));
  program
    .command('why')
    .description('explain why a flag is on or off for a user')
    .argument('<flag>')
    .option('--user <id>', 'userId of the context')
    .option('--session <id>', 'sessionId of the context')
    .option('--context <properties...>', 'properties of the context: country=DE plan=pro')
    .action(createAction(io, explain));
}

interface HistoryOptions extends CommonOptions {
  readonly since?: string;
  readonly until?: string;
  readonly limit: string;
}

async function showHistory(session: CommandSession<HistoryOptions>, flag: string | undefined): Promise<void> {
  const { api, output, options } = session;
  const limit = countOf(options.limit, 'change sets');
  const wanted = wantedOf(session);
  const { path, found } = await historyOf(session, flag);
  const { changes, isCut } = await readHistory(api, path, { ...wanted, limit });
  output.json(changes);
  if (found) await showState(session, found);
  if (changes.length === 0) output.line('No changes.');
  const { segment } = await readNames(api, { documents: changes.flatMap(({ differences }) => differences) });
  for (const { id, at, actor, reason, events, differences } of changes) {
    output.line(`${output.colors.bold(at)}  ${actor}  ${output.colors.dim(id ?? '')}`);
    if (reason) output.line(`  ${reason}`);
    if (events.some(({ origin }) => origin === 'bypass')) output.line('  without the approval that it needs');
    const states = events.flatMap(({ data, preData }) => [preData, data]);
    const names = { ...(segment && { segment }), strategies: nameStrategies(states, segment) };
    const sentences = events.flatMap(({ type, data }) => describeRequestEvent({ type, actor, data }) ?? []);
    const others = sentences.length === 0 ? differences : differences.filter(({ kind }) => kind !== 'change-request');
    for (const line of [...documentLines(others, names), ...sentences]) output.line(`  ${line}`);
  }
  if (isCut) output.line('There are older changes: raise --limit.');
}

/** Says who gets the flag now, in each environment: a list of changes does not show their result. */
async function showState(session: CommandSession, flag: ListedFlag): Promise<void> {
  const names = flag.environments.map(({ name }) => name);
  const states = await Promise.all(names.map((name) => stateIn(session, flag, name)));
  session.output.line(`${flag.name} now: ${flag.archived ? 'archived' : states.join('; ')}`);
}

interface History {
  readonly path: string;
  /** The flag, if it exists in the project of the history. */
  readonly found?: ListedFlag;
}

/** A deleted or moved flag keeps its history in the old project, which the options name. */
async function historyOf(session: CommandSession, flag: string | undefined): Promise<History> {
  const { project } = session.options;
  const pathIn = (id: string) => `/projects/${encodeURIComponent(id)}`;
  if (flag === undefined) return { path: project === undefined ? '/history' : `${pathIn(project)}/history` };
  const found = await findFlag(session, flag).catch((error: unknown) => {
    if (project === undefined) throw error;
    return undefined;
  });
  const of = project ?? found?.project ?? '';
  return { path: `${pathIn(of)}/features/${encodeURIComponent(flag)}/history`, ...(found && { found }) };
}

/** Which change sets a history shows. Times are milliseconds since 1970. */
interface Wanted {
  readonly since: number;
  readonly until: number;
  readonly actor: string | undefined;
}

function wantedOf({ options, isGiven }: CommandSession<HistoryOptions>): Wanted {
  const { since, until, actor } = options;
  const from = since === undefined ? Number.NEGATIVE_INFINITY : parseTime('--since', since);
  const to = until === undefined ? Number.POSITIVE_INFINITY : parseTime('--until', until);
  if (from > to) throw usageError(`--since ${since} is after --until ${until}.`);
  // The variable names the author of further changes.
  return { since: from, until: to, actor: isGiven('actor') ? actor : undefined };
}

/** The maximum number of consecutive empty pages. An empty page means many change sets that the caller may not see. */
const MOST_EMPTY_PAGES = 500;

/** Reads pages until there are enough entries: a page ends at 1 MiB, and may be empty. */
async function readHistory(
  api: Api,
  path: string,
  { limit, since, until, actor }: Wanted & { readonly limit: number },
): Promise<{ readonly changes: readonly HistoryEntry[]; readonly isCut: boolean }> {
  const changes: HistoryEntry[] = [];
  const cursors = new Set<string>();
  const isFiltered = actor !== undefined || Number.isFinite(since) || Number.isFinite(until);
  const isWanted = (entry: HistoryEntry) => {
    const at = Date.parse(entry.at);
    return at >= since && at <= until && (actor === undefined || entry.actor === actor);
  };
  let next: string | undefined;
  let empty = 0;
  do {
    const page = { limit: isFiltered ? MOST_PER_PAGE : Math.min(limit - changes.length, MOST_PER_PAGE), after: next };
    const found = await api.get<HistoryPage>(path, page);
    const entries = found.changes.slice(0, page.limit);
    empty = entries.length === 0 ? empty + 1 : 0;
    next = found.next;
    changes.push(...entries.filter(isWanted));
    // Newest first. The clocks of two nodes differ by less than a page.
    if (entries.length > 0 && entries.every(({ at }) => Date.parse(at) < since)) next = undefined;
    if (next !== undefined && (cursors.has(next) || empty > MOST_EMPTY_PAGES)) {
      throw new CommandError(`${api.connection.name} sends an endless history. Is it the flags API?`);
    }
    if (next !== undefined) cursors.add(next);
  } while (next !== undefined && changes.length < limit);
  return { changes: changes.slice(0, limit), isCut: next !== undefined || changes.length > limit };
}

async function undo(session: CommandSession, id: string): Promise<void> {
  const { api, output, options } = session;
  assertWays(options);
  const path = `/changes/${encodeURIComponent(id)}`;
  const { at, actor, events } = await api.get<ChangeSet>(path);
  const planned = toReviewedPlan(await api.post<Plan>(`${path}/undo/plan`));
  output.line(`Undoes the change set of ${at} by ${actor}:`);
  if (!(await confirmPlan(session, { ...planned, json: { events, ...planned.json } }))) return;
  if (isRequested(options)) return requestChanges(session, [{ op: 'undoChangeSet', ref: { changeSet: id } }]);
  const { reason, bypassApproval } = options;
  const body = reason === undefined ? {} : { reason };
  const changeSet = await api.change<ChangeSet>(`${path}/undo`, body, { bypassApproval });
  output.json({ changed: changeSet.id !== null, changeSet });
  const done = output.colors.green(`Undone. To redo it: flags undo ${changeSet.id ?? ''}`);
  output.line(changeSet.id === null ? 'Nothing to undo.' : done);
}

interface ContextOptions extends CommonOptions {
  readonly user?: string;
  readonly session?: string;
  readonly context?: readonly string[];
}

async function explain(session: CommandSession<ContextOptions>, flag: string): Promise<void> {
  const { api, output, options: given } = session;
  const stored = await readFlag(session, flag);
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
  const definitions = stored.environments.find(({ name }) => name === environment)?.strategies ?? [];
  const hasSegments = [...strategies, ...definitions].some(({ segments }) => Boolean(segments?.length));
  const names = hasSegments ? await readSegmentNames(api) : new Map<number, string>();
  for (const [index, strategy] of strategies.entries()) {
    const state = strategy.disabled ? ' (disabled)' : '';
    output.line(
      `  ${mark(strategy.holds)} ${describeExplained(strategy, definitions[index], (id) => names.get(id))}${state}`,
    );
    for (const constraint of strategy.constraints) output.line(`    ${explainConstraint(constraint)}`);
    for (const { id, found, holds, constraints } of strategy.segments) {
      const name = found ? (names.get(id) ?? id) : `${id}, which does not exist`;
      output.line(`    ${mark(holds)} segment ${name}`);
      for (const constraint of constraints) output.line(`      ${explainConstraint(constraint)}`);
    }
  }
}

function explainConstraint({ constraint, value, holds }: ExplainedConstraint): string {
  const { contextName, operator, values, value: operand } = constraint;
  // Explanations leave out very long lists of values.
  const isLong = !values?.length && operand === undefined;
  const condition = isLong ? `${contextName} is compared with a long list` : describeConstraint(constraint);
  const compared = operandOf(operator) === 'moment' ? 'the time of the evaluation' : (value ?? 'absent');
  return `${mark(holds)} ${condition} (${compared})`;
}

/** Describes the required state of a parent: "needs payments on", "needs payments with the variant red or blue". */
function describeDependency({
  feature,
  enabled,
  variants,
}: ExplainedFlag['dependencies'][number]['dependency']): string {
  if (variants?.length) return `needs ${feature} with the variant ${variants.join(' or ')}`;
  return `needs ${feature} ${enabled === false ? 'off' : 'on'}`;
}

/**
 * Names a strategy as other commands do, with the position of the context: "Gradual rollout 25 %: this context is at 63".
 *
 * @param stored the strategy at this place; another one if the flag has changed since it was explained
 */
function describeExplained(
  { name, rollout, unknown = [] }: ExplainedStrategy,
  stored: StoredStrategy | undefined,
  segmentName: (id: number) => string | undefined,
): string {
  // Conditions are listed below. Only the title of `default` consists of them: it is for everyone without any.
  const shown = name === 'default' ? stored : stored && { ...stored, constraints: [], segments: [] };
  const known = shown?.name === name ? describeStrategy(shown, segmentName) : strategyName(name);
  const kind = [known, ...unknown.map((text) => `(${text})`)].join(' ');
  if (rollout == null) return kind;
  if (rollout.random === true) return `${kind}: drawn at random, because the context has no id`;
  return `${kind}: ${rollout.bucket == null ? 'the context has no id' : `this context is at ${rollout.bucket}`}`;
}

type StoredStrategy = FlagDetail['environments'][number]['strategies'][number];

function splitProperty(text: string): [string, string] {
  const place = text.indexOf('=');
  if (place < 1) throw usageError(`${text} is not a property. Write it as country=DE.`);
  return [text.slice(0, place), text.slice(place + 1)];
}

function mark(holds: boolean): string {
  return holds ? '✓' : '✗';
}
