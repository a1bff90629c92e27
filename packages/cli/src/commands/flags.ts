import type { Change, StrategyInput } from '@flags/core';
import type { Command } from 'commander';
import { describeConstraint } from '../describe.js';
import { CommandError, usageError } from '../errors.js';
import type { CommandIo } from '../output.js';
import { applyReviewed } from '../review.js';
import {
  type CommandSession,
  type CommonOptions,
  environmentOf,
  type FlagPage,
  findFlag,
  type ListedFlag,
  withSession,
} from '../session.js';

interface WireStrategy {
  readonly id: string;
  readonly name: string;
  readonly title?: string;
  readonly disabled?: boolean;
  readonly parameters: Readonly<Record<string, unknown>> | null;
  readonly constraints: readonly Readonly<Record<string, unknown>>[];
  readonly segments?: readonly number[];
  readonly sortOrder?: number;
}

interface WireFlag {
  readonly name: string;
  readonly description: string | null;
  readonly type: string;
  readonly environments: readonly {
    readonly name: string;
    readonly enabled: boolean;
    readonly strategies: readonly WireStrategy[];
  }[];
  readonly variants: readonly { readonly name: string; readonly weight: number; readonly weightType: string }[] | null;
  readonly [member: string]: unknown;
}

interface ListOptions extends CommonOptions {
  readonly query?: string;
  readonly type?: string;
  readonly label?: string;
  readonly owner?: string;
  readonly stale?: boolean;
  readonly archived?: boolean;
  readonly limit?: string;
}

/** Adds the commands that read and change flags. */
export function addFlagCommands(program: Command, io: CommandIo): void {
  program
    .command('list')
    .description('list flags')
    .argument('[query]', 'part of the name, description, a label or the owner')
    .option('--type <type>', 'only flags of this type')
    .option('--label <label>', 'only flags with this label')
    .option('--owner <owner>', 'only flags of this owner')
    .option('--stale', 'only stale flags')
    .option('--archived', 'archived flags')
    .option('--limit <number>', 'at most this many')
    .action((query: string | undefined, _options, command: Command) =>
      withSession(io, command.optsWithGlobals(), (session) =>
        listFlags(session, { ...command.optsWithGlobals<ListOptions>(), ...(query !== undefined && { query }) }),
      ),
    );
  program
    .command('show')
    .description('show a flag with its strategies and variants')
    .argument('<flag>')
    .action((flag: string, _options, command: Command) =>
      withSession(io, command.optsWithGlobals(), (session) => showFlag(session, flag)),
    );
  program
    .command('create')
    .description('create a flag, off in every environment')
    .argument('<flag>')
    .option('--description <text>')
    .option('--type <type>', 'release, experiment, operational, kill-switch or permission')
    .option('--label <labels...>', 'labels')
    .option('--owner <owner>')
    .action((flag: string, _options, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & NewFlagOptions>();
      return withSession(io, options, (session) => createFlag(session, flag, options));
    });
  for (const [name, isOn] of [
    ['on', true],
    ['off', false],
  ] as const) {
    program
      .command(name)
      .description(isOn ? 'switch a flag on in one environment' : 'switch a flag off in one environment')
      .argument('<flag>')
      .action((flag: string, _options, command: Command) =>
        withSession(io, command.optsWithGlobals(), (session) => switchFlag(session, flag, isOn)),
      );
  }
  program
    .command('rollout')
    .description('set the percentage of a gradual rollout')
    .argument('<flag>')
    .argument('<percentage>', '0 to 100')
    .option('--strategy <id>', 'the strategy, if the environment has several gradual rollouts')
    .action((flag: string, percentage: string, _options, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & { strategy?: string }>();
      return withSession(io, options, (session) =>
        setRollout(session, flag, { percentage, strategy: options.strategy }),
      );
    });
  program
    .command('variants')
    .description('show the variants of a flag, or set them')
    .argument('<flag>')
    .argument('[variants...]', 'names with weights in percent: red=25 blue=75, or names alone for equal weights')
    .option('--clear', 'remove all variants')
    .action((flag: string, variants: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & { clear?: boolean }>();
      return withSession(io, options, (session) => changeVariants(session, flag, variants, options));
    });
}

async function listFlags({ api, output, options }: CommandSession, query: ListOptions): Promise<void> {
  const { type, label, owner, stale, archived, limit } = query;
  const shown =
    limit === undefined ? (output.isTerminal && !output.isJson ? ROWS_ON_TERMINAL : Infinity) : countOf(limit);
  const pageLimit = shown <= MOST_PER_PAGE ? shown : undefined;
  const filters = { query: query.query, project: options.project, type, label, owner, limit: pageLimit };
  const { features: found, total } = await api.get<FlagPage>('/features', {
    ...filters,
    ...(stale === true && { stale: 'true' }),
    ...(archived === true && { archived: 'true' }),
  });
  const features = found.slice(0, shown);
  output.json(features);
  if (features.length === 0) {
    const isFiltered = Object.values({ ...filters, limit: undefined, stale, archived }).some(
      (one) => one !== undefined,
    );
    output.line(isFiltered ? 'No flag matches.' : 'There are no flags. Create one: flags create NAME');
    return;
  }
  const environments = features[0]?.environments.map(({ name }) => name) ?? [];
  output.table(
    ['Name', 'Project', 'Type', ...environments, 'Last seen', 'Labels', 'Owner'],
    features.map((flag) => [
      flag.name,
      flag.project,
      flag.stale ? `${flag.type}, stale` : flag.type,
      ...flag.environments.map((one) => describeState(one)),
      flag.lastSeenAt?.slice(0, 10) ?? 'never',
      flag.labels.join(', '),
      flag.owner ?? '',
    ]),
  );
  if (total > features.length)
    output.line(`${features.length} of ${total} flags. Narrow them: flags list TEXT, or --limit.`);
}

/** A terminal gets what a person reads; a pipe and `--json` get everything. */
const ROWS_ON_TERMINAL = 100;
const MOST_PER_PAGE = 1_000;

function countOf(text: string): number {
  const count = Number(text);
  if (!/^\d{1,7}$/.test(text) || count === 0) throw usageError(`--limit is a number of flags, not ${text}.`);
  return count;
}

function describeState({ enabled, rollout, hasVariants }: ListedFlag['environments'][number]): string {
  if (!enabled) return 'off';
  return ['on', rollout === null || rollout === 100 ? '' : `${rollout}%`, hasVariants ? 'variants' : '']
    .filter((part) => part !== '')
    .join(' ');
}

/** Reads a flag with its strategies. */
async function readFlag(session: CommandSession, name: string): Promise<WireFlag & { readonly project: string }> {
  const { project } = await findFlag(session, name);
  const flag = await session.api.get<WireFlag>(`/projects/${project}/features/${name}`);
  return { ...flag, project };
}

async function showFlag(session: CommandSession, name: string): Promise<void> {
  const { output } = session;
  const flag = await readFlag(session, name);
  output.json(flag);
  const { labels, owner, lastSeenAt } = flag as unknown as ListedFlag;
  const state = [flag.type, flag.archived ? 'archived' : '', flag.stale ? 'stale' : ''].filter((one) => one !== '');
  output.line(`${output.colors.bold(flag.name)}  ${state.join(', ')}  project ${flag.project}`);
  if (flag.description) output.line(flag.description);
  output.line(`labels ${labels.join(', ') || 'none'}, owner ${owner ?? 'none'}, last seen ${lastSeenAt ?? 'never'}`);
  for (const { name: environment, enabled, strategies } of flag.environments) {
    output.line();
    output.line(`${environment}: ${enabled ? output.colors.green('on') : 'off'}`);
    for (const strategy of strategies) output.line(`  ${describeStrategy(strategy)}`);
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

function describeStrategy({ id, name, title, parameters, constraints, segments = [], disabled }: WireStrategy): string {
  const values = Object.entries(parameters ?? {}).map(([key, value]) => `${key} ${String(value)}`);
  const conditions = constraints.map(describeConstraint);
  const parts = [...values, ...conditions, ...segments.map((segment) => `segment ${segment}`)];
  return `${title ?? name}${disabled ? ' (disabled)' : ''}${parts.length > 0 ? `: ${parts.join('; ')}` : ''}  ${id}`;
}

interface NewFlagOptions {
  readonly description?: string;
  readonly type?: string;
  readonly label?: readonly string[];
  readonly owner?: string;
}

async function createFlag(session: CommandSession, name: string, options: NewFlagOptions): Promise<void> {
  const { description, type, label, owner } = options;
  const input = {
    name,
    ...(description !== undefined && { description }),
    ...(type !== undefined && { type }),
    ...(label !== undefined && { labels: label }),
    ...(owner !== undefined && { owner }),
  };
  await applyReviewed(session, [{ op: 'createFlag', ref: { project: session.options.project ?? 'default' }, input }]);
}

const EVERYBODY: StrategyInput = { name: 'flexibleRollout', parameters: { rollout: '100', stickiness: 'default' } };

/** Switches a flag. A flag without strategies gets a rollout to everybody, because it could not be on otherwise. */
async function switchFlag(session: CommandSession, name: string, isOn: boolean): Promise<void> {
  const { project, environments } = await findFlag(session, name);
  const environment = await environmentOf(session);
  const ref = { project, flag: name, environment };
  const isEmpty = environments.find((one) => one.name === environment)?.strategyCount === 0;
  const changes: Change[] = isOn
    ? [...(isEmpty ? [addRollout(ref, '100')] : []), { op: 'enable', ref }]
    : [{ op: 'disable', ref }];
  await applyReviewed(session, changes);
}

function addRollout(ref: { project: string; flag: string; environment: string }, rollout: string): Change {
  const parameters = { ...EVERYBODY.parameters, rollout, groupId: ref.flag };
  return { op: 'addStrategy', ref, input: { ...EVERYBODY, parameters } };
}

async function setRollout(
  session: CommandSession,
  name: string,
  { percentage, strategy: wanted }: { readonly percentage: string; readonly strategy: string | undefined },
): Promise<void> {
  const value = Number(percentage.replace(/%$/, '').trim() || NaN);
  if (!(value >= 0 && value <= 100)) throw usageError(`A rollout is 0 to 100, not ${percentage}.`);
  const rollout = String(value);
  const { project, environments } = await readFlag(session, name);
  const environment = await environmentOf(session);
  const ref = { project, flag: name, environment };
  const strategies = environments.find((one) => one.name === environment)?.strategies ?? [];
  const gradual = strategies.filter(
    (one) => one.name === 'flexibleRollout' && (wanted === undefined || one.id === wanted),
  );
  if (gradual.length > 1) {
    const ids = gradual.map(({ id }) => id).join(', ');
    throw usageError(`${name} has several gradual rollouts in ${environment}; choose one with --strategy: ${ids}`);
  }
  const [found] = gradual;
  if (!found && (wanted !== undefined || strategies.length > 0)) {
    const message = `${name} has no gradual rollout in ${environment}, but other strategies. Any one that holds switches it on.`;
    throw new CommandError(
      wanted === undefined ? message : `${name} has no gradual rollout ${wanted} in ${environment}.`,
    );
  }
  if (!found) return applyReviewed(session, [addRollout(ref, rollout), { op: 'enable', ref }]);
  const { id, ...input } = found;
  const replacement = { ...input, parameters: { ...input.parameters, rollout } } as unknown as StrategyInput;
  await applyReviewed(session, [{ op: 'updateStrategy', ref: { ...ref, strategy: id }, input: replacement }]);
}

async function changeVariants(
  session: CommandSession,
  name: string,
  variants: readonly string[],
  { clear = false }: { readonly clear?: boolean },
): Promise<void> {
  const { output } = session;
  const { project, variants: current } = await readFlag(session, name);
  if (clear && variants.length > 0) throw usageError('Name variants, or --clear, but not both.');
  if (variants.length === 0 && !clear) {
    output.json(current ?? []);
    if (!current?.length) return output.line(`${name} has no variants.`);
    output.table(
      ['Variant', 'Weight'],
      (current ?? []).map((one) => [one.name, percent(one.weight)]),
    );
    return;
  }
  const input = variants.map((text) => {
    const [variant = '', weight] = text.split('=');
    if (weight === undefined) return { name: variant, weightType: 'variable' as const };
    const value = Number(weight.replace(/%$/, '')) * 10;
    if (weight === '' || !Number.isInteger(value))
      throw usageError(`${text}: a weight is a percentage with at most one decimal.`);
    return { name: variant, weightType: 'fix' as const, weight: value };
  });
  const isAllFixed = input.length > 0 && input.every(({ weightType }) => weightType === 'fix');
  const sum = input.reduce((total, { weight = 0 }) => total + weight, 0);
  if (isAllFixed && sum !== 1000) throw usageError(`The weights are ${sum / 10} % together, and must be 100 %.`);
  // One variant has to be variable: it takes what the fixed ones leave.
  const weighted = isAllFixed
    ? input.map((one, index) => (index === 0 ? { name: one.name, weightType: 'variable' as const } : one))
    : input;
  await applyReviewed(session, [{ op: 'setVariants', ref: { project, flag: name }, input: weighted }]);
}

function percent(weight: number): string {
  return `${weight / 10}%`;
}
