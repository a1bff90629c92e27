import { hostname } from 'node:os';
import type { Awaitable } from './base/common.types.js';
import * as compiled from './base/compiled-schemas.js';
import { type ErrorDetail, FlagsError } from './base/errors.js';
import { deepFreeze } from './base/json.js';
import { describeNonStorage, describeUnknownOption, isStorage } from './base/option-names.js';
import { type JsonSchema, nameBesideAll, positiveInteger, text, textInPaths } from './base/primitives.js';
import { emitWarning } from './base/printable.js';
import type { Environment, FlagsSettings, FlagType, Role } from './base/settings.types.js';
import { createValidator, pickMembers } from './base/validator.js';
import type { CustomStrategy, TextEncoding } from './evaluation/evaluation.types.js';
import type { EvaluationProblem } from './evaluation/problem.js';
import { defaultEnvironment } from './features/flags/review.js';
import { findRepeated } from './features/flags/variants.schema.js';
import { OWNER } from './features/projects/members.decide.js';
import type { RolloutGuard } from './features/rollouts/rollout.types.js';
import type { AuthorizeDue } from './kernel/changes/change-set.types.js';
import type { DueMode } from './kernel/due/runner.js';
import type { FlagsStorage } from './storage/port.js';
import type { DefaultFlagType, FlagDrift, FlagsSchema } from './typed-flags/schema.types.js';

/** Options of `openFlags`. Only the storage is required. */
export interface FlagsOptions<Own extends string = string> {
  /** Stores documents and events: `memoryStorage()`, `sqliteStorage(…)`, `postgresStorage(…)`, your own storage, or a promise of one. */
  readonly storage: Awaitable<FlagsStorage>;
  /** In display order. Default: `development` and `production`. The default `displayName` is the name. */
  readonly environments?: readonly { readonly name: string; readonly displayName?: string }[];
  /** The environment of evaluations that name none. Default: `production`, or else the first environment. */
  readonly environment?: string | undefined;
  /** How evaluations are counted. */
  readonly usage?: {
    /** Milliseconds after which evaluation counts and uses of tokens are recorded. Default: 10,000. With 0, only `close()` records. */
    readonly interval?: number;
    /** The application name for the counts of this process. Default: `default`. */
    readonly application?: string | undefined;
    /** The instance id for the counts of this process. Default: the host name and the process id. */
    readonly instance?: string | undefined;
    /** Milliseconds after which an application without registrations and reports is dropped. Default: 30 days. */
    readonly retention?: number;
  };
  /** Custom strategies of the host application. Default: none. Types accept their names beside the built-in ones. */
  readonly strategies?: readonly CustomStrategy<Own>[];
  /** Encoding for the hashes of non-ASCII ids. `low-byte` hashes like the Node SDK of Unleash. Default: `utf8`. */
  readonly idEncoding?: TextEncoding;
  /**
   * Called once per problem of a flag, such as an unknown strategy or a misspelt name, when the flag changes or is first
   * evaluated. Default: a process warning.
   */
  readonly onProblem?: (problem: EvaluationProblem) => void;
  /** The roles of project members. One role must be named `owner`. Default: `4 owner` and `5 member`. */
  readonly roles?: readonly Role[];
  /**
   * The types that flags can have. Flags older than the lifetime of their type lower their project's health. Default:
   * `release` (40 days), `experiment` (40), `operational` (7), `kill-switch` and `permission`.
   */
  readonly flagTypes?: readonly FlagType[];
  /** Returns whether a user exists. Default: every positive integer is a user. */
  readonly isUser?: (userId: number) => Awaitable<boolean>;
  /** The actor of changes that name none. Default: `system`. */
  readonly actor?: string | undefined;
  /** Returns the current time. Default: the system clock. */
  readonly now?: () => Date;
  /** Returns a new strategy id. Default: a random UUID (version 4). */
  readonly newId?: () => string;
  /**
   * Interval in milliseconds at which the instance polls for events of other processes. Default: 1,000. 0 disables
   * polling. The timer does not keep the process alive.
   */
  readonly pollInterval?: number;
  /**
   * The number of recently evaluated contexts to keep, at most 1,000. Admin pages offer them as users of a preview.
   * They are personal data, and stay in the memory of this process. Contexts of more than 1,000 characters or 50
   * properties are not kept. Default: 0.
   */
  readonly recentContexts?: number;
  /**
   * Milliseconds, at least 1,000. New tokens expire after this time at the latest, and by default. Existing tokens keep
   * their expiry. Default: no limit.
   */
  readonly maxTokenLifetime?: number;
  /**
   * Declares the flags, environments and context properties of the application: see `defineFlags`. Evaluation then
   * accepts declared names only. Default: any name.
   */
  readonly schema?: FlagsSchema;
  /** Called once at the start if the stored flags differ from the schema. Default: one process warning. */
  readonly onDrift?: (drift: readonly FlagDrift[]) => void;
  /**
   * `create` creates the declared flags that are missing, off in every environment, with their variants without
   * payloads. It changes no existing flag. `report` only calls `onDrift`. Default: `report`.
   */
  readonly declare?: 'report' | 'create';
  /** How change requests with a time are applied, and rollouts take their steps. */
  readonly due?: {
    /**
     * Whether this process does what is due. `true`: it looks every 5 seconds. `'elsewhere'`: another process does, or you
     * call `runDue`. Default: false, and requests with a time and `startRollout` are refused.
     */
    readonly run?: DueMode;
    /**
     * Called when a change request or a step of a rollout is due, with the person who set its time or started it, and the
     * changes: returns whether that person may still make them. False fails the request, and pauses the rollout. After an
     * error, or without an answer within ten seconds, it is tried again, a request until its `notAfter`. Default: true.
     */
    readonly authorize?: AuthorizeDue;
    /**
     * Called before each step of a rollout, and every minute while a step stays: returns `go`, `hold`, or `rollback`, from
     * the host's own metrics. An error, another answer, or none within ten seconds counts as `hold`. Default: none. Then
     * this process takes no step of a `guarded` rollout, and takes the steps of others without asking.
     */
    readonly guard?: RolloutGuard;
  };
  /** Called with background errors, such as a throwing listener or a failed poll. Default: a process warning. */
  readonly onError?: (error: unknown) => void;
}

const ENVIRONMENTS: readonly Environment[] = [
  { name: 'development', displayName: 'Development' },
  { name: 'production', displayName: 'Production' },
];
const ROLES: readonly Role[] = [
  { id: 4, name: OWNER },
  { id: 5, name: 'member' },
];
const FLAG_TYPES: readonly (FlagType & { readonly name: DefaultFlagType })[] = [
  { name: 'release', lifetimeDays: 40 },
  { name: 'experiment', lifetimeDays: 40 },
  { name: 'operational', lifetimeDays: 7 },
  { name: 'kill-switch', lifetimeDays: null },
  { name: 'permission', lifetimeDays: null },
];

type Checked = Omit<FlagsOptions, 'storage' | 'schema'>;
type Configuration = Checked &
  Required<Pick<Checked, 'environments' | 'roles' | 'flagTypes'>> & {
    readonly environment: string;
  };

/** Options that are functions. */
type FunctionOption = {
  [Name in keyof Checked]-?: NonNullable<Checked[Name]> extends (...input: never[]) => unknown ? Name : never;
}[keyof Checked];

/** The record type requires an entry for every one. */
const FUNCTIONS: Readonly<Record<FunctionOption, true>> = {
  onProblem: true,
  isUser: true,
  now: true,
  newId: true,
  onDrift: true,
  onError: true,
};

/** The longest delay of a Node timer, in milliseconds. */
const MAX_DELAY = 2 ** 31 - 1;

/**
 * Returns the environments, roles and flag types of the options, with defaults, frozen.
 *
 * @throws FlagsError `invalid_input`
 */
export function createSettings(options: Partial<Checked>): FlagsSettings {
  const { environments = ENVIRONMENTS, roles = ROLES, flagTypes = FLAG_TYPES } = options;
  const environment = options.environment ?? preferredOf(environments);
  const valid = validate({
    ...pickMembers(options, Object.keys(OPTIONS)),
    environments,
    roles,
    flagTypes,
    environment,
  });
  return deepFreeze({
    environment: valid.environment,
    environments: valid.environments.map((one) => ({ name: one.name, displayName: one.displayName ?? one.name })),
    roles: valid.roles.map(({ id, name }) => ({ id, name })),
    flagTypes: valid.flagTypes.map(({ name, lifetimeDays }) => ({ name, lifetimeDays })),
    strategies: (valid.strategies ?? []).map(({ name }) => name),
  });
}

/** Returns the options of usage, with defaults. */
export function usageSettingsOf({ usage = {} }: Pick<FlagsOptions, 'usage'>) {
  const { interval = 10_000, retention = 30 * 86_400_000, application = 'default' } = usage;
  return { interval, retention, application, instance: usage.instance ?? `${hostname()}-${process.pid}` };
}

const USAGE: Readonly<Record<keyof NonNullable<FlagsOptions['usage']>, JsonSchema>> = {
  interval: { type: 'number', minimum: 0, maximum: MAX_DELAY },
  application: textInPaths(255),
  instance: text(255),
  retention: { type: 'number', minimum: 0 },
};

const DUE: Readonly<Record<keyof NonNullable<FlagsOptions['due']>, JsonSchema>> = {
  run: { enum: [true, false, 'elsewhere'] },
  authorize: {},
  guard: {},
};

/** The schemas of the options; those of functions are empty. A record, so that the compiler reports a missing one. */
const OPTIONS: Readonly<Record<keyof Checked, JsonSchema>> = {
  environments: listOf({ name: nameBesideAll, displayName: text(100) }, ['name']),
  environment: { type: 'string' },
  usage: { type: 'object', properties: USAGE },
  strategies: { type: 'array', items: { type: 'object', properties: { name: text(100) }, required: ['name'] } },
  idEncoding: { type: 'string', enum: ['utf8', 'low-byte'] },
  onProblem: {},
  roles: listOf({ id: positiveInteger, name: text(100) }, ['id', 'name']),
  flagTypes: listOf({ name: text(100), lifetimeDays: { type: ['number', 'null'], minimum: 0 } }, [
    'name',
    'lifetimeDays',
  ]),
  isUser: {},
  actor: {},
  now: {},
  newId: {},
  pollInterval: { type: 'number', minimum: 0, maximum: MAX_DELAY },
  recentContexts: { type: 'integer', minimum: 0, maximum: 1000 },
  maxTokenLifetime: { type: 'number', minimum: 1000, maximum: 100 * 365 * 86_400_000 },
  onDrift: {},
  declare: { type: 'string', enum: ['report', 'create'] },
  due: { type: 'object', properties: DUE },
  onError: {},
};

export const optionsSchema: JsonSchema = { type: 'object', properties: OPTIONS };

const validate = createValidator<Configuration>(
  compiled.options,
  ({ environments, roles, flagTypes, environment, strategies = [], due = {}, ...options }) => [
    ...(Object.keys(FUNCTIONS) as FunctionOption[]).flatMap((option) => findNonFunction(options[option], `/${option}`)),
    ...findNonFunction(due.authorize, '/due/authorize'),
    ...findNonFunction(due.guard, '/due/guard'),
    ...strategies.flatMap(({ isEnabled = null }, index) =>
      findNonFunction(isEnabled, `/strategies/${index}/isEnabled`),
    ),
    ...(environments.some((one) => one.name === environment)
      ? []
      : [{ message: 'must be the name of one of the environments', path: '/environment' }]),
    ...findRepeated(environments, nameOf, (index) => `/environments/${index}/name`),
    ...findRepeated(
      roles,
      ({ id }) => id,
      (index) => `/roles/${index}/id`,
    ),
    ...findRepeated(roles, nameOf, (index) => `/roles/${index}/name`),
    ...findRepeated(flagTypes, nameOf, (index) => `/flagTypes/${index}/name`),
    ...(roles.some((role) => role.name === OWNER) ? [] : [{ message: `must name one role ${OWNER}`, path: '/roles' }]),
  ],
);

function preferredOf(environments: Configuration['environments']): string {
  const names = Array.isArray(environments) ? environments.map((one) => one?.name) : [];
  return defaultEnvironment(names);
}

function findNonFunction(given: unknown, path: string): readonly ErrorDetail[] {
  return given === undefined || typeof given === 'function' ? [] : [{ message: 'must be a function', path }];
}

function listOf(properties: object, required: readonly string[]) {
  return { type: 'array', minItems: 1, items: { type: 'object', properties, required } };
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

/** Returns the storage, or explains a common mistake: no `{ storage }`, or a storage function that was not called. */
export async function resolveStorage(options: FlagsOptions | undefined): Promise<FlagsStorage> {
  if (typeof options !== 'object' || options === null) {
    throw invalidOptions("openFlags needs options: write openFlags({ storage: sqliteStorage('./flags.db') }).");
  }
  if (isStorage(options)) throw invalidOptions('openFlags needs options, not a storage: write openFlags({ storage }).');
  if (!('storage' in options)) assertOptions(options);
  const storage = await options.storage;
  const fault = describeNonStorage(storage);
  if (fault) throw invalidOptions(`openFlags: ${fault}`, '/storage');
  return storage;
}

/** Refuses unknown options. `createSettings` validates the others. */
export function assertOptions(options: object): void {
  const fault = describeUnknownOption(options, ['storage', ...Object.keys(OPTIONS), 'schema']);
  if (fault) throw invalidOptions(`openFlags ${fault}`);
  const { usage, due } = options as Partial<FlagsOptions>;
  assertMembers('usage', usage, { known: Object.keys(USAGE), example: '{ interval: 60_000 }' });
  assertMembers('due', due, { known: Object.keys(DUE), example: '{ run: true }' });
}

/** Refuses an option that is not an object of known members. */
function assertMembers(
  option: string,
  given: unknown,
  { known, example }: { readonly known: readonly string[]; readonly example: string },
): void {
  if (given === undefined) return;
  const isObject = typeof given === 'object' && given !== null;
  const unknown = isObject ? describeUnknownOption(given, known) : `must be an object, such as ${example}.`;
  if (unknown) throw invalidOptions(`openFlags: ${option} ${unknown}`, `/${option}`);
}

function invalidOptions(message: string, path = ''): FlagsError {
  return new FlagsError('invalid_input', message, [{ message, path }]);
}

/**
 * Creates a function that reports background errors, which have no caller. Emits process warnings without `onError`,
 * and for errors that `onError` throws.
 */
export function createErrorReporter(onError: (error: unknown) => void = warn): (error: unknown) => void {
  return (error) => {
    try {
      onError(error);
    } catch (failure) {
      warn(failure);
    }
  };
}

function warn(error: unknown): void {
  emitWarning(String(error), { detail: detailOf(error) });
}

function detailOf(error: unknown): string {
  const { stack } = Object(error) as { readonly stack?: unknown };
  return typeof stack === 'string' ? stack : '';
}
