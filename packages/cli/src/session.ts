import { defaultEnvironment, ownStrategiesOf } from '@flags/core/admin';
import type { FlagPage, ListedFlag, Segment, Session } from '@flags/http/wire';
import type { Command } from 'commander';
import { distance } from 'fastest-levenshtein';
import { type Api, ApiError, createApi } from './api.js';
import { connect } from './connection.js';
import { CommandError, type CommandIo, createOutput, type Output, oneLine, usageError } from './output.js';

/** The options that all commands share. */
export interface CommonOptions {
  readonly store?: string;
  readonly token?: string;
  readonly project?: string;
  readonly environment?: string;
  readonly environments?: string;
  readonly driverFrom?: string;
  readonly actor?: string;
  readonly reason?: string;
  readonly reviewIn?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  /** When to apply the changes, for commands that take it. */
  readonly at?: string;
  /** Request the changes instead of applying them, for commands that take the option. */
  readonly request?: boolean;
  /** Why the changes bypass the approval that they need, for commands that take the option. */
  readonly bypassApproval?: string;
}

/** The context of a command. */
export interface CommandSession<Options extends CommonOptions = CommonOptions> {
  readonly io: CommandIo;
  readonly options: Options;
  readonly output: Output;
  readonly api: Api;
  /** Whether the command line itself has the option, not only a variable. */
  readonly isGiven: (option: keyof CommonOptions) => boolean;
}

/** Environment variables for options. Read here, not as option defaults: `--help` would print the token. */
const VARIABLES = {
  store: 'FLAGS_STORE',
  token: 'FLAGS_TOKEN',
  environment: 'FLAGS_ENVIRONMENT',
  environments: 'FLAGS_ENVIRONMENTS',
  actor: 'FLAGS_ACTOR',
  reviewIn: 'FLAGS_REVIEW_IN',
} as const;

/** Adds the options that all commands share. */
export function addCommonOptions(program: Command, { env }: CommandIo): void {
  program
    .option('--store <store>', 'SQLite file, postgres://…, or the address of a server (FLAGS_STORE)')
    .option('--token <token>', 'admin token for a server (FLAGS_TOKEN)')
    .option('--project <project>', 'project of the flag; default: found by the name of the flag')
    .option(
      '--environment <name>',
      'environment of the change (FLAGS_ENVIRONMENT); default: production, otherwise the first',
    )
    .option('--environments <names>', 'environments of a store, separated by commas (FLAGS_ENVIRONMENTS)')
    .option('--driver-from <folder>', 'folder whose better-sqlite3 opens a SQLite file; default: beside this command')
    .option(
      '--actor <name>',
      'author of changes in a store (FLAGS_ACTOR); for history and events, only those of this author',
    )
    .option('--reason <text>', 'reason for the change, shown in the history')
    .option(
      '--review-in <names>',
      'environments whose changes need a confirmation (FLAGS_REVIEW_IN); default: production, otherwise the last',
    )
    .option('--json', 'write JSON for programs')
    .option('--yes', 'do not ask for a confirmation')
    .option('--dry-run', 'show the changes without making them')
    .hook('preAction', () => {
      const given = program.opts<CommonOptions>();
      for (const [option, variable] of Object.entries(VARIABLES)) {
        const value = env[variable];
        const isAbsent = given[option as keyof CommonOptions] === undefined;
        if (isAbsent && value) program.setOptionValueWithSource(option, value, 'env');
      }
    });
}

interface SessionChoices {
  /** The command creates a store that does not exist, or has no tables, with its first change. */
  readonly creates?: boolean;
}

/** Returns the action of a command, which runs on the target of its options and closes the connection afterwards. */
export function createAction<Arguments extends readonly unknown[], Options extends CommonOptions>(
  io: CommandIo,
  work: (session: CommandSession<Options>, ...args: Arguments) => Promise<unknown>,
  { creates = false }: SessionChoices = {},
): (...given: [...args: Arguments, options: unknown, command: Command]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1) as Command;
    const options = command.optsWithGlobals<Options>();
    const args = given.slice(0, -2) as unknown as Arguments;
    const connection = await connect({
      ...options,
      creates,
      environments: namesIn(options.environments),
      onNote: (sentence) => io.stderr.write(`note: ${oneLine(sentence)}\n`),
    });
    const session = {
      io,
      options,
      output: createOutput(io, options.json === true),
      api: createApi(connection),
      isGiven: (option: keyof CommonOptions) => command.getOptionValueSourceWithGlobals(option) === 'cli',
    };
    try {
      await work(session, ...args);
    } catch (error) {
      // A server may send any reply. On a local store, such an error is a defect.
      const isOfData = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
      if (connection.flags !== undefined || !isOfData) throw error;
      const advice = 'Is it the flags API, in a release that this command supports?';
      throw new CommandError(
        `${connection.name} sent a reply that this command cannot read (${error.message}). ${advice}`,
      );
    } finally {
      await connection.close();
    }
  };
}

/** Returns the names in a list separated by commas. */
export function namesIn(list: string | undefined): readonly string[] | undefined {
  const names = list?.split(',').map((one) => one.trim());
  return names?.filter((one) => one !== '');
}

/** Returns the environment of the options, or the default environment of evaluations. */
export async function environmentOf({ api, options }: CommandSession): Promise<string> {
  const { environments, environment: preferred } = await readEnvironments(api);
  const { environment = preferred } = options;
  if (environments.includes(environment)) return environment;
  const advice = api.connection.flags
    ? ' A store needs the names of others: --environments or FLAGS_ENVIRONMENTS.'
    : '';
  throw usageError(`There is no environment ${environment}; there are: ${environments.join(', ')}.${advice}`);
}

interface Environments {
  readonly environments: readonly string[];
  /** The default environment of evaluations. */
  readonly environment: string;
  /** The host's own strategies. */
  readonly ownStrategies: readonly string[];
}

/** Reads the environments that the flags have in their options. */
export async function readEnvironments(api: Api): Promise<Environments> {
  const session = await api.get<Session>('/session');
  // The session of a caller without access has no environments. The command's own request then reports the reason.
  if (!session.environments) await api.get('/projects');
  const environments = (session.environments ?? []).map(({ name }) => name);
  const environment = session.environment ?? defaultEnvironment(environments);
  return { environments, environment, ownStrategies: ownStrategiesOf(session.strategies) ?? [] };
}

/** Returns the environments of `--review-in`; undefined without the option. */
export function reviewedIn({ reviewIn }: CommonOptions, environments: readonly string[]) {
  const names = namesIn(reviewIn);
  const unknown = names?.find((name) => !environments.includes(name));
  if (unknown === undefined) return names;
  // A misspelt name would take the review away from the environment that it means.
  throw usageError(`--review-in: there is no environment ${unknown}; there are: ${environments.join(', ')}.`);
}

/** The largest page of a list. */
export const MOST_PER_PAGE = 1_000;

/** The maximum number of pages: more than any store has. */
const MOST_PAGES = 1_000;

/**
 * Reads all pages of a list.
 *
 * @throws CommandError for a list without an end
 */
export async function readAll<Page extends { readonly next?: string | undefined }, Item>(
  api: Api,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<Item[]> {
  const found: Item[] = [];
  let after: string | undefined;
  for (let read = 0; read < MOST_PAGES; read++) {
    const page = await api.get<Page>(path, { ...query, limit: MOST_PER_PAGE, after });
    found.push(...itemsOf(page));
    if (page.next === undefined) return found;
    if (page.next === after) break;
    after = page.next;
  }
  throw new CommandError(`${api.connection.name} sends an endless list. Is it the flags API?`);
}

/** Returns the names of segments by id. A caller who may not list segments sees their ids. */
export async function readSegmentNames(api: Api): Promise<ReadonlyMap<number, string>> {
  try {
    const { segments } = await api.get<{ readonly segments: readonly Segment[] }>('/segments');
    return new Map(segments.map(({ id, name }) => [id, name]));
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return new Map();
    throw error;
  }
}

/**
 * Finds a flag, archived or not, by its exact name.
 *
 * @throws CommandError that names the closest flags
 */
export async function findFlag({ api, options }: CommandSession, name: string): Promise<ListedFlag> {
  const { project } = options;
  for (const archived of [undefined, 'true']) {
    const { features } = await api.get<FlagPage>('/features', { namePrefix: name, project, archived, limit: 1 });
    const found = features.find((one) => one.name === name);
    if (found) return found;
  }
  const { features } = await api.get<FlagPage>('/features', { project });
  const close = closestTo(
    name,
    features.map((one) => one.name),
  );
  const advice = close.length === 0 ? 'List the flags: flags list' : `Did you mean ${close.join(' or ')}?`;
  throw new CommandError(`There is no flag ${name}${project === undefined ? '' : ` in project ${project}`}. ${advice}`);
}

const MAX_COMPARED = 20_000;
const MAX_SHOWN = 3;

/** Returns the most similar names, the closest first. */
function closestTo(name: string, names: readonly string[]): readonly string[] {
  const wanted = name.slice(0, 100).toLowerCase();
  return names
    .slice(0, MAX_COMPARED)
    .map((one) => ({ one, edits: distance(wanted, one.toLowerCase()) }))
    .filter(({ edits }) => edits <= Math.max(2, Math.floor(wanted.length / 3)))
    .sort((a, b) => a.edits - b.edits)
    .slice(0, MAX_SHOWN)
    .map(({ one }) => one);
}
