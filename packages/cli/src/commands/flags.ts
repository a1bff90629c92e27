import { describeState, describeStrategy } from '@flags/core/admin';
import type { FlagDetail, FlagPage, ListedFlag, Session } from '@flags/http/wire';
import type { Command } from 'commander';
import type { Api } from '../api.js';
import { type CommandIo, usageError } from '../output.js';
import { describeProgress } from '../rollout-words.js';
import {
  type CommandSession,
  type CommonOptions,
  createAction,
  findFlag,
  MOST_PER_PAGE,
  readEnvironments,
  readSegmentNames,
} from '../session.js';

interface ListOptions extends CommonOptions {
  readonly type?: string;
  readonly label?: string;
  readonly owner?: string;
  readonly stale?: boolean;
  readonly archived?: boolean;
  readonly unused?: string;
  readonly limit?: string;
}

/** Adds the commands that read flags. */
export function addFlagCommands(program: Command, io: CommandIo): void {
  program
    .command('list')
    .description('list flags')
    .argument('[query]', 'part of the name, description, label or owner')
    .option('--type <type>', 'only flags of this type')
    .option('--label <label>', 'only flags with this label')
    .option('--owner <owner>', 'only flags of this owner')
    .option('--stale', 'only stale flags')
    .option('--unused <days>', 'only flags that no client has used for this many days, the longest unused first')
    .option('--archived', 'archived flags')
    .option('--limit <number>', 'at most this many')
    .action(createAction(io, listFlags));
  program
    .command('show')
    .description('show a flag with its strategies and variants')
    .argument('<flag>')
    .action(createAction(io, showFlag));
}

async function listFlags(session: CommandSession<ListOptions>, query: string | undefined): Promise<void> {
  const { api, output, options } = session;
  const { type, label, owner, stale, archived, unused, limit } = options;
  const shown =
    limit === undefined ? (output.isTerminal && !output.isJson ? ROWS_ON_TERMINAL : Infinity) : countOf(limit);
  const isUnused = unused === undefined ? undefined : unusedFor(unused);
  const pageLimit = shown <= MOST_PER_PAGE && !isUnused ? shown : undefined;
  const filters = { query, project: options.project, type, label, owner, limit: pageLimit };
  const page = await api.get<FlagPage>('/features', {
    ...filters,
    ...(stale === true && { stale: 'true' }),
    ...(archived === true && { archived: 'true' }),
    ...(isUnused && { sort: 'lastSeenAt' }),
  });
  const found = isUnused ? page.features.filter(isUnused) : page.features;
  const total = isUnused ? found.length : page.total;
  const features = found.slice(0, shown);
  if (features.length === 0 && type !== undefined) await assertType(session, type);
  output.json(features);
  if (features.length === 0) {
    const isFiltered = Object.values({ ...filters, limit: undefined, stale, archived, unused }).some(
      (one) => one !== undefined,
    );
    output.line(isFiltered ? 'No flag matches.' : 'There are no flags. Create one: flags create NAME');
    return;
  }
  const names = await segmentNames(api, features);
  const environments = features[0]?.environments.map(({ name }) => name) ?? [];
  output.table(
    ['Name', 'Project', 'Type', ...environments, 'Last seen', 'Labels', 'Owner'],
    features.map((flag) => [
      flag.name,
      flag.project,
      flag.stale ? `${flag.type}, stale` : flag.type,
      ...flag.environments.map((one) => {
        const state = describeState(one, (id) => names.get(id));
        return one.enabled && one.hasVariants ? `${state}, variants` : state;
      }),
      flag.lastSeenAt?.slice(0, 10) ?? 'never',
      flag.labels.join(', '),
      flag.owner ?? '',
    ]),
  );
  if (total > features.length)
    output.line(`${features.length} of ${total} flags. Narrow them: flags list TEXT, or --limit.`);
}

/** A terminal gets a summary; a pipe and `--json` get everything. */
const ROWS_ON_TERMINAL = 100;

/** Reads `--limit`. */
export function countOf(text: string, items = 'flags'): number {
  const count = Number(text);
  if (!/^\d{1,7}$/.test(text) || count === 0) throw usageError(`--limit is a number of ${items}, not ${text}.`);
  return count;
}

const DAY = 86_400_000;

/** Returns a filter of flags that nobody has asked for since. A newer flag may still get its code. */
function unusedFor(days: string): (flag: ListedFlag) => boolean {
  if (!/^[1-9]\d{0,4}$/.test(days)) throw usageError(`--unused is a number of days, not ${days}.`);
  const since = Date.now() - Number(days) * DAY;
  return ({ lastSeenAt, createdAt }) => Date.parse(lastSeenAt ?? createdAt) < since;
}

/** An empty list does not show that its type is misspelt. Stored flags may have types that are no longer configured. */
async function assertType({ api }: CommandSession, type: string): Promise<void> {
  const { types } = await api.get<Session>('/session');
  const names = (types ?? []).map(({ name }) => name);
  if (types && !names.includes(type)) throw usageError(`There is no type ${type}; there are: ${names.join(', ')}.`);
}

/** Returns the names of the segments that a list shows. */
async function segmentNames(api: Api, flags: readonly ListedFlag[]): Promise<ReadonlyMap<number, string>> {
  const isShown = flags.some(({ environments }) =>
    environments.some(({ audience }) => audience.some(({ segment }) => segment !== undefined)),
  );
  return isShown ? readSegmentNames(api) : new Map();
}

/** Reads a flag with its strategies. */
export async function readFlag(session: CommandSession, name: string): Promise<FlagDetail> {
  const { project } = await findFlag(session, name);
  return session.api.get(`/projects/${project}/features/${name}`);
}

async function showFlag(session: CommandSession, name: string): Promise<void> {
  const { output } = session;
  const flag = await readFlag(session, name);
  const { ownStrategies } = await readEnvironments(session.api);
  output.json(flag);
  const { labels, owner, lastSeenAt } = flag;
  const state = [flag.type, flag.archived ? 'archived' : '', flag.stale ? 'stale' : ''].filter((one) => one !== '');
  output.line(`${output.colors.bold(flag.name)}  ${state.join(', ')}  project ${flag.project}`);
  if (flag.description) output.line(flag.description);
  output.line(`labels ${labels.join(', ') || 'none'}, owner ${owner ?? 'none'}, last seen ${lastSeenAt ?? 'never'}`);
  const hasSegments = flag.environments.some((one) => one.strategies.some(({ segments = [] }) => segments.length > 0));
  const names = hasSegments ? await readSegmentNames(session.api) : new Map<number, string>();
  for (const { name: environment, enabled, strategies } of flag.environments) {
    output.line();
    output.line(`${environment}: ${enabled ? output.colors.green('on') : 'off'}`);
    for (const strategy of strategies) {
      const state = strategy.disabled ? ' (disabled)' : '';
      output.line(`  ${describeStrategy(strategy, (id) => names.get(id), ownStrategies)}${state}  ${strategy.id}`);
      if (strategy.rollout) output.line(`    ${describeProgress(strategy.rollout)}`);
    }
    if (strategies.length === 0) output.line('  no strategies');
  }
  if (flag.variants?.length) {
    output.line();
    output.table(
      ['Variant', 'Weight'],
      flag.variants.map(({ name: variant, weight }) => [variant, percent(weight)]),
    );
  }
}

/** Says who gets a flag in an environment: "5 % in production", "off in production, 5 % once it is on". */
export async function stateIn({ api }: CommandSession, flag: ListedFlag, environment: string): Promise<string> {
  const state = flag.environments.find(({ name }) => name === environment);
  if (!state) return `not in ${environment}`;
  const names = await segmentNames(api, [flag]);
  const say = (one: typeof state) => describeState(one, (id) => names.get(id));
  const next = !state.enabled && state.strategyCount > 0 ? `, ${say({ ...state, enabled: true })} once it is on` : '';
  return `${say(state)} in ${environment}${next}`;
}

/** Returns a weight in thousandths as a percentage. */
export function percent(weight: number): string {
  return `${weight / 10}%`;
}
