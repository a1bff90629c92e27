import type { PageQuery } from './base/common.types.js';
import { COMPILED } from './base/compiled-schemas.js';
import type { ErrorDetail } from './base/errors.js';
import { deepFreeze } from './base/json.js';
import { LIMITS } from './base/limits.js';
import { dateTime, type JsonSchema, type ObjectSchema, pageQuery } from './base/primitives.js';
import type { FlagsSettings } from './base/settings.types.js';
import { type Choices, createValidator, type Validator } from './base/validator.js';
import {
  changeRequestApproval,
  changeRequestQuery,
  changeRequestTime,
  newChangeRequest,
} from './features/change-requests/change-request.schema.js';
import { approvalPolicy } from './features/change-requests/policy.schema.js';
import { consumerInput, consumerReset } from './features/consumers/consumer.js';
import {
  clone,
  dependency,
  findDependencyIssues,
  findLabelIssues,
  flagChanges,
  flagQuery,
  labelChanges,
  move,
  newFlag,
  parent,
} from './features/flags/flag.schema.js';
import {
  constraint,
  environment,
  findEnvironmentIssues,
  findRepeatedIds,
  findStrategyIssues,
  strategy,
  strategyOrder,
  strategyReplacement,
} from './features/flags/strategies.schema.js';
import type { StrategyPlace } from './features/flags/strategy.types.js';
import type { VariantInput } from './features/flags/variant.types.js';
import { findVariantsIssues, variant, variants } from './features/flags/variants.schema.js';
import { member, newProject, projectChanges } from './features/projects/project.schema.js';
import { findRolloutIssues, newRollout, rolloutAdvance, rolloutStop } from './features/rollouts/rollout.schema.js';
import { findSegmentIssues, newSegment, segmentChanges } from './features/segments/segment.schema.js';
import { findTokenIssues, newToken, tokenChanges, tokenRotation } from './features/tokens/token.schema.js';
import {
  bulkReport,
  findBulkIssues,
  findPeriodIssues,
  findRegistrationIssues,
  findUsageIssues,
  metricsReport,
  registration,
  usageFilter,
} from './features/usage/usage.schema.js';
import { EVENT_TYPES } from './features.js';
import type { FeedQuery, WireEventQuery } from './kernel/log/event.types.js';

/** An input of an operation, described once. The schema is plain JSON, the same for every engine. */
interface Input<T> {
  readonly schema: JsonSchema;
  /** Rules that a schema cannot state. */
  readonly findIssues: ((input: T) => Iterable<ErrorDetail>) | undefined;
  /** The members whose texts the options name. */
  readonly choices: Readonly<Record<string, keyof typeof CHOICES>>;
}

type ChoiceSettings = Pick<FlagsSettings, 'flagTypes'>;

/** What options permit. */
const CHOICES = {
  flagTypes: ({ flagTypes }: ChoiceSettings) => flagTypes.map(({ name }) => name),
} satisfies Readonly<Record<string, (settings: ChoiceSettings) => readonly string[]>>;

const FLAG_TYPE = { type: 'flagTypes' } as const;

function input<T>(
  schema: JsonSchema,
  findIssues?: Input<T>['findIssues'],
  choices: Input<T>['choices'] = {},
): Input<T> {
  return { schema, findIssues, choices };
}

/** The schema of an object, which names the members of the type. */
function object<T>(schema: ObjectSchema<T>, findIssues?: Input<T>['findIssues'], choices?: Input<T>['choices']) {
  return input<T>(schema, findIssues, choices);
}

const eventQuery: ObjectSchema<WireEventQuery> = {
  type: 'object',
  properties: {
    project: { type: 'string' },
    flag: { type: 'string' },
    type: { type: 'string', enum: EVENT_TYPES },
    from: dateTime,
    to: dateTime,
    since: { type: 'string', maxLength: LIMITS.label },
    after: { type: 'string', maxLength: LIMITS.label },
    limit: { type: 'integer', minimum: 0, maximum: LIMITS.eventsPerPage },
    offset: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
};

const feedQuery: ObjectSchema<FeedQuery> = {
  type: 'object',
  properties: {
    after: { type: ['string', 'null'], maxLength: LIMITS.label },
    limit: { type: 'integer', minimum: 0, maximum: LIMITS.eventsPerPage },
  },
};

/** Every input, by its name. A script can read the list without an engine. */
export const INPUTS = {
  newFlag: object(newFlag, findLabelIssues, FLAG_TYPE),
  flagChanges: object(flagChanges, findLabelIssues, FLAG_TYPE),
  labelChanges: object(labelChanges),
  clone: object(clone),
  move: object(move),
  strategy: object(strategy, findStrategyIssues),
  strategyReplacement: object(strategyReplacement, findStrategyIssues),
  strategyOrder: input<readonly StrategyPlace[]>(strategyOrder, findRepeatedIds),
  environment: object(environment, findEnvironmentIssues),
  constraint: object(constraint),
  variants: input<readonly VariantInput[]>(variants, findVariantsIssues),
  variant: object(variant),
  newSegment: object(newSegment, findSegmentIssues),
  segmentChanges: object(segmentChanges, findSegmentIssues),
  dependency: object(dependency, findDependencyIssues),
  parent: object(parent),
  member: object(member),
  newProject: object(newProject),
  projectChanges: object(projectChanges),
  registration: object(registration, findRegistrationIssues),
  metricsReport: object(metricsReport, findPeriodIssues),
  bulkReport: object(bulkReport, findBulkIssues),
  usageFilter: object(usageFilter, findUsageIssues),
  newToken: object(newToken, findTokenIssues),
  tokenChanges: object(tokenChanges),
  tokenRotation: object(tokenRotation),
  flagQuery: object(flagQuery),
  eventQuery: object(eventQuery),
  feedQuery: object(feedQuery),
  newRollout: object(newRollout, findRolloutIssues),
  rolloutAdvance: object(rolloutAdvance),
  rolloutStop: object(rolloutStop),
  approvalPolicy: object(approvalPolicy),
  newChangeRequest: object(newChangeRequest),
  changeRequestApproval: object(changeRequestApproval),
  changeRequestTime: object(changeRequestTime),
  changeRequestQuery: object(changeRequestQuery),
  consumer: object(consumerInput),
  consumerReset: object(consumerReset),
  pageQuery: object<PageQuery>(pageQuery),
};

type Inputs = typeof INPUTS;

const ALL_INPUTS = Object.entries<Input<never>>(INPUTS);

/** The JSON Schema of every input, by the input's name. */
export type InputSchemas = { readonly [Name in keyof Inputs]: JsonSchema };

/**
 * Returns the JSON Schemas that operations validate their input with, for documents such as OpenAPI. They name what the
 * options permit.
 *
 * @example
 * const { newFlag } = inputSchemas(flags.settings);
 */
export function inputSchemas(settings: ChoiceSettings): InputSchemas {
  const schemas = ALL_INPUTS.map(([name, { schema, choices }]) => [
    name,
    withChoices(schema, textsOf(choices, settings)),
  ]);
  return deepFreeze(Object.fromEntries(schemas));
}

function textsOf(choices: Input<never>['choices'], settings: ChoiceSettings): Choices['texts'] {
  return Object.fromEntries(Object.entries(choices).map(([member, choice]) => [member, CHOICES[choice](settings)]));
}

function withChoices(schema: JsonSchema, choices: Choices['texts']): JsonSchema {
  const properties = Object.entries((schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>);
  const named = properties.map(([member, part]) => [
    member,
    member in choices ? { ...part, enum: choices[member] } : part,
  ]);
  return Object.keys(choices).length === 0 ? schema : { ...schema, properties: Object.fromEntries(named) };
}

/** One validator per input. Each throws `invalid_input`. */
export type Validators = {
  readonly [Name in keyof Inputs]: Inputs[Name] extends Input<infer T> ? Validator<T> : never;
};

export function createValidators(settings: FlagsSettings): Validators {
  const validators = ALL_INPUTS.map(([name, { schema, findIssues, choices }]) => {
    const texts = textsOf(choices, settings);
    const members = Object.keys(Object(schema.properties));
    const compiled = COMPILED[name as keyof Inputs];
    return [
      name,
      createValidator(compiled, findIssues, Object.keys(texts).length > 0 ? { texts, members } : undefined),
    ];
  });
  return Object.fromEntries(validators);
}
