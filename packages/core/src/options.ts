import type { Awaitable } from './common.types.js';
import type { ErrorDetail } from './errors.js';
import type { CustomStrategy, EvaluationProblem, TextEncoding } from './evaluation/evaluated.types.js';
import type { Environment, FlagType, Settings } from './flags.js';
import { OWNER } from './projects/members.decide.js';
import type { Role } from './projects/project.types.js';
import type { MetricsStorage } from './storage/metrics-port.js';
import type { Storage } from './storage/port.js';
import { deepFreeze } from './validation/json.js';
import { name, positiveInteger, text } from './validation/primitives.js';
import { createValidator } from './validation/validator.js';

/** What `createFlags` takes. Only the storage is required. */
export interface FlagsOptions {
  /** Where documents and events are kept: `memoryStorage()`, `sqliteStorage(path)`, or your own. */
  readonly storage: Awaitable<Storage>;
  /** Where metrics are kept; the storage's own place when absent, else memory. */
  readonly metrics?: MetricsStorage;
  /** In display order; `development` and `production` when absent. `displayName` is the name when absent. */
  readonly environments?: readonly { readonly name: string; readonly displayName?: string }[];
  /** Where flags are evaluated when no environment is named; `production` when absent, or else the first. */
  readonly environment?: string;
  /** Under which name evaluations in this process are counted; `default` when absent. */
  readonly appName?: string;
  /** Which instance of the application this is; the host's name and the process id when absent. */
  readonly instanceId?: string;
  /** How often, in milliseconds, counted evaluations are recorded; 10,000 when absent, 0: only by `close()`. */
  readonly usageInterval?: number;
  /** Strategies of the host's own. */
  readonly strategies?: readonly CustomStrategy[];
  /** How ids that are not ASCII are hashed; `utf8` when absent. */
  readonly idEncoding?: TextEncoding;
  /** Told once of each thing that is wrong with a flag (an unknown strategy, a missing segment, …); a process warning when absent. */
  readonly onProblem?: (problem: EvaluationProblem) => void;
  /** One must be named `owner`; `4 owner` and `5 member` when absent. */
  readonly roles?: readonly Role[];
  /** `release` (40 days), `experiment` (40), `operational` (7), `kill-switch`, `permission` when absent. */
  readonly flagTypes?: readonly FlagType[];
  /** Tells whether the host knows a user; every positive integer is a user when absent. */
  readonly isUser?: (userId: number) => Awaitable<boolean>;
  /** Who changes are attributed to when nobody is named; `system` when absent. */
  readonly actor?: string;
  /** The clock; the system's when absent. */
  readonly now?: () => Date;
  /** Makes strategy ids; random UUIDs (version 4) when absent. */
  readonly newId?: () => string;
  /**
   * How often, in milliseconds, to look for events of other processes on the same storage; 1000 when absent, 0: never.
   * The timer does not keep the process alive.
   */
  readonly pollInterval?: number;
  /** How long, in milliseconds, applications that are not seen any more are remembered; 30 days when absent. */
  readonly applicationRetention?: number;
  /**
   * How many bytes all flags (archived ones too), segments and projects may take together, as JSON in UTF-8. A change that would
   * exceed it fails with `state_too_large`; switching off, archiving and deleting never do. No limit when absent. Each process
   * counts what it knows: several can exceed the limit by what they commit between two polls.
   */
  readonly stateLimit?: number;
  /** Told of faults that no caller waits for: a listener that throws, a poll that fails. A process warning when absent. */
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
const FLAG_TYPES: readonly FlagType[] = [
  { name: 'release', lifetimeDays: 40 },
  { name: 'experiment', lifetimeDays: 40 },
  { name: 'operational', lifetimeDays: 7 },
  { name: 'kill-switch', lifetimeDays: null },
  { name: 'permission', lifetimeDays: null },
];

/** Where flags are evaluated when nobody says: of the wrong answers, the careful one. */
const PREFERRED_ENVIRONMENT = 'production';

type Configuration = Required<Pick<FlagsOptions, 'environments' | 'roles' | 'flagTypes' | 'environment'>> & Details;

/** What has its default where it is used. */
type Details = Partial<
  Pick<
    FlagsOptions,
    'appName' | 'instanceId' | 'pollInterval' | 'usageInterval' | 'applicationRetention' | 'stateLimit'
  >
>;

/** The longest time that a timer can wait, in milliseconds. */
const LONGEST = 2 ** 31 - 1;

/** The options' environments, roles and flag types with the defaults filled in, frozen; or `invalid_input`. */
export function createSettings(options: Partial<Configuration>): Settings {
  const { environments = ENVIRONMENTS, roles = ROLES, flagTypes = FLAG_TYPES } = options;
  const environment = options.environment ?? preferredOf(environments);
  const { appName, instanceId, pollInterval, usageInterval, applicationRetention, stateLimit } = options;
  const details = { appName, instanceId, pollInterval, usageInterval, applicationRetention, stateLimit };
  const valid = validate({ environments, roles, flagTypes, environment, ...details });
  return deepFreeze({
    environment: valid.environment,
    environments: valid.environments.map((one) => ({ name: one.name, displayName: one.displayName ?? one.name })),
    roles: valid.roles.map(({ id, name }) => ({ id, name })),
    flagTypes: valid.flagTypes.map(({ name, lifetimeDays }) => ({ name, lifetimeDays })),
  });
}

const validate = createValidator<Configuration>(
  {
    type: 'object',
    properties: {
      environment: { type: 'string' },
      appName: text(255),
      instanceId: text(255),
      pollInterval: { type: 'number', minimum: 0, maximum: LONGEST },
      usageInterval: { type: 'number', minimum: 0, maximum: LONGEST },
      applicationRetention: { type: 'number', minimum: 0 },
      stateLimit: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
      environments: listOf({ name, displayName: text(100) }, ['name']),
      roles: listOf({ id: positiveInteger, name: text(100) }, ['id', 'name']),
      flagTypes: listOf({ name: text(100), lifetimeDays: { type: ['number', 'null'], minimum: 0 } }, [
        'name',
        'lifetimeDays',
      ]),
    },
  },
  ({ environments, roles, flagTypes, environment }) => [
    ...(environments.some((one) => one.name === environment)
      ? []
      : [{ message: 'must be the name of one of the environments', path: '/environment' }]),
    ...findRepeated('environments', environments, 'name'),
    ...findRepeated('roles', roles, 'id'),
    ...findRepeated('roles', roles, 'name'),
    ...findRepeated('flagTypes', flagTypes, 'name'),
    ...(roles.some((role) => role.name === OWNER) ? [] : [{ message: `must name one role ${OWNER}`, path: '/roles' }]),
  ],
);

function preferredOf(environments: Configuration['environments']): string {
  const names = Array.isArray(environments) ? environments.map((one) => one?.name) : [];
  return names.includes(PREFERRED_ENVIRONMENT) ? PREFERRED_ENVIRONMENT : (names[0] ?? PREFERRED_ENVIRONMENT);
}

function listOf(properties: object, required: readonly string[]) {
  return { type: 'array', minItems: 1, items: { type: 'object', properties, required } };
}

function findRepeated<T, K extends keyof T & string>(
  list: string,
  items: readonly T[],
  key: K,
): readonly ErrorDetail[] {
  const seen = new Set<T[K]>();
  return items.flatMap((item, index) => {
    if (seen.has(item[key])) return [{ message: 'must be unique', path: `/${list}/${index}/${key}` }];
    seen.add(item[key]);
    return [];
  });
}
