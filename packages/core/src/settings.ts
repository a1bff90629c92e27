import type { Environment, FlagType, Settings } from './api/engine.js';
import type { Role } from './api/members.js';
import type { FlagsOptions } from './api/options.js';
import { OWNER } from './domain/members.js';
import type { ErrorDetail } from './errors.js';
import { frozen } from './frozen.js';
import { name, positiveInteger, text } from './validation/schemas/names.js';
import { createValidator } from './validation/validator.js';

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
  return frozen({
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
