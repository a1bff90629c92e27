import type { ErrorDetail } from '../base/errors.js';
import { invalidInput } from '../base/invalid-input.js';
import { LIMITS } from '../base/limits.js';
import { describeUnknownOption } from '../base/option-names.js';
import { name as nameSchema } from '../base/primitives.js';
import type { FlagsSettings } from '../base/settings.types.js';
import { CONTEXT_MEMBERS } from '../evaluation/context.js';
import type { ContextOptions } from '../evaluation/evaluation.js';
import type { EvaluationContext } from '../evaluation/evaluation.types.js';
import { describedVariants, isPayloadDescription, isRecord, PAYLOAD_RULE } from './payload.js';
import type {
  ContextDeclarations,
  DefaultFlagType,
  FlagDeclaration,
  FlagDeclarations,
  FlagsSchema,
} from './schema.types.js';

/** The environments, context properties and flag types of a schema. */
export interface SchemaOptions<
  Environment extends string,
  Context extends ContextDeclarations,
  FlagTypeName extends string = DefaultFlagType,
  StrategyName extends string = string,
> {
  /** In display order; the environments of `openFlags` if its options name none. Default: any environment. */
  readonly environments?: readonly Environment[];
  /** Custom context properties. Default: `properties` may hold anything. */
  readonly context?: Context;
  /**
   * The names of the flag types that declarations may have, as in the option `flagTypes`. Default: the built-in types.
   */
  readonly types?: readonly FlagTypeName[];
  /**
   * The names of strategies beside the built-in ones, which changes may then name: those of other processes and of
   * client SDKs. Types know the `strategies` of `openFlags` anyway. Default: none.
   */
  readonly strategies?: readonly StrategyName[];
}

/**
 * Declares the flags of an application. `openFlags({ storage, schema })` then accepts declared names only, and
 * `getPayload` returns typed payloads. No build step.
 *
 * @param flags the declarations by name of the flag
 * @throws FlagsError `invalid_input`
 * @example
 * const schema = defineFlags(
 *   {
 *     checkout: { type: 'release', description: 'The new checkout' },
 *     banner: { variants: { red: { color: 'string' }, blue: { color: 'string' } } },
 *   },
 *   { environments: ['development', 'production'], context: { plan: ['free', 'pro'] } },
 * );
 * const flags = await openFlags({ storage, schema });
 * flags.getPayload('banner', { userId: '7', plan: 'pro' })?.color;
 */
export function defineFlags<
  const Declarations extends FlagDeclarations<FlagTypeName>,
  const Environment extends string = string,
  const Context extends ContextDeclarations = Readonly<Record<never, never>>,
  const FlagTypeName extends string = DefaultFlagType,
  const StrategyName extends string = never,
>(
  flags: Declarations,
  options: SchemaOptions<Environment, Context, FlagTypeName, StrategyName> = {},
): FlagsSchema<Declarations, Environment, Context, StrategyName> {
  const { environments, context = {} as Context, types, strategies } = options;
  const issues = [...findFlagIssues(flags, types), ...findOptionIssues({ environments, context, types, strategies })];
  if (issues.length > 0) throw invalidInput(issues.slice(0, LIMITS.issues));
  return Object.freeze({
    flags: Object.freeze({ ...flags }),
    environments,
    context: Object.freeze({ ...context }),
    ...(strategies && { strategies: Object.freeze([...strategies]) }),
  });
}

const isName = (value: unknown): value is string => typeof value === 'string' && NAME.test(value);
const NAME = new RegExp(`^(?=.{1,${LIMITS.name}}$)${String(nameSchema.pattern).slice(1)}`);
const NAME_RULE = `must be a name: ${nameSchema.description}`;

function* findFlagIssues(flags: unknown, types: readonly string[] | undefined): Generator<ErrorDetail> {
  if (!isRecord(flags)) return yield { message: 'must be an object with a declaration per flag', path: '' };
  for (const [name, declaration] of Object.entries(flags)) {
    const path = `/${name}`;
    if (!isName(name)) yield { message: NAME_RULE, path };
    if (!isRecord(declaration)) {
      yield { message: 'must be an object such as {} or { variants: { red: null } }', path };
      continue;
    }
    const unknown = describeUnknownOption(declaration, ['type', 'description', 'project', 'variants']);
    if (unknown) yield { message: unknown, path };
    const { type, description, project, variants } = declaration as FlagDeclaration;
    for (const [member, value] of Object.entries({ type, description })) {
      if (value !== undefined && typeof value !== 'string')
        yield { message: 'must be string', path: `${path}/${member}` };
    }
    if (Array.isArray(types) && typeof type === 'string' && !types.includes(type)) {
      yield { message: `must be one of the types ${types.join(', ')}`, path: `${path}/type` };
    }
    if (project !== undefined && !isName(project)) yield { message: NAME_RULE, path: `${path}/project` };
    yield* findVariantIssues(variants, `${path}/variants`);
  }
}

function* findVariantIssues(variants: FlagDeclaration['variants'], path: string): Generator<ErrorDetail> {
  if (variants === undefined) return;
  if (typeof variants !== 'object' || variants === null) {
    return yield { message: 'must be a list of names, or an object with a payload per name', path };
  }
  const described = describedVariants({ variants });
  if (described.size > LIMITS.variants) yield { message: `must have at most ${LIMITS.variants} variants`, path };
  for (const [name, description] of described) {
    if (!isName(name)) yield { message: NAME_RULE, path: `${path}/${String(name)}` };
    if (!isPayloadDescription(description)) {
      yield { message: `must be ${PAYLOAD_RULE}`, path: `${path}/${String(name)}` };
    }
  }
}

interface SchemaOptionValues {
  readonly environments: readonly string[] | undefined;
  readonly context: ContextDeclarations;
  readonly types: readonly string[] | undefined;
  readonly strategies: readonly string[] | undefined;
}

function* findOptionIssues({ environments, context, ...names }: SchemaOptionValues): Generator<ErrorDetail> {
  if (
    environments !== undefined &&
    !(Array.isArray(environments) && environments.length > 0 && environments.every(isName))
  ) {
    yield { message: 'must be a list of names', path: '/environments' };
  }
  for (const [option, list] of Object.entries(names)) {
    if (list !== undefined && !(Array.isArray(list) && list.every((name) => typeof name === 'string'))) {
      yield { message: 'must be a list of names', path: `/${option}` };
    }
  }
  for (const [property, values] of Object.entries(context)) {
    const path = `/context/${property}`;
    if (CONTEXT_MEMBERS.has(property)) {
      yield { message: 'is a member of every context and cannot be declared', path };
    }
    const isList = Array.isArray(values) && values.every((value) => typeof value === 'string');
    if (!isList && !['string', 'number', 'boolean'].includes(String(values))) {
      yield { message: "must be a list of values, or 'string', 'number' or 'boolean'", path };
    }
  }
}

/** Throws `invalid_input` unless the instance has the environments and flag types of the schema. */
export function assertSchemaFits(schema: FlagsSchema, settings: FlagsSettings): void {
  const { flags, environments = [], context } = Object(schema) as Partial<FlagsSchema>;
  if (!isRecord(flags) || !isRecord(context)) {
    throw invalidInput([{ message: 'must be the result of defineFlags({ … })', path: '/schema' }]);
  }
  const types = settings.flagTypes.map(({ name }) => name);
  const unknownEnvironment = environments.find((name) => !settings.environments.some((one) => one.name === name));
  const unknownType = Object.entries(flags).find(([, { type }]) => type !== undefined && !types.includes(type));
  if (unknownEnvironment !== undefined) {
    throw invalidInput([
      {
        message: `declares the environment ${unknownEnvironment}, which the option environments does not contain`,
        path: '/schema',
      },
    ]);
  }
  if (unknownType) {
    const [name, { type }] = unknownType;
    const message = `declares ${name} with the type ${type}; the types are ${types.join(', ')}`;
    throw invalidInput([{ message, path: '/schema' }]);
  }
}

/**
 * Returns a function that accepts declared properties beside the members of a context: `{ plan: 'pro' }` means
 * `{ properties: { plan: 'pro' } }`. Undefined if the schema declares no properties.
 */
export function createPropertyLift({ context }: FlagsSchema): ContextOptions['lift'] {
  const names = Object.keys(context);
  return names.length === 0 ? undefined : (given) => liftProperties(given, names);
}

/** Never throws, for any context. A property beside `userId` wins over the same one in `properties`. */
function liftProperties(
  context: EvaluationContext | undefined,
  names: readonly string[],
): EvaluationContext | undefined {
  if (typeof context !== 'object' || context === null) return context;
  try {
    const given = context as Readonly<Record<string, unknown>>;
    const beside = names.filter((name) => Object.hasOwn(given, name) && given[name] !== undefined);
    if (beside.length === 0) return context;
    const lifted = Object.fromEntries(beside.map((name) => [name, given[name]]));
    return { ...context, properties: { ...context.properties, ...lifted } };
  } catch {
    return context;
  }
}
