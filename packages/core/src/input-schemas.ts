import type { PageQuery } from './base/common.types.js';
import { COMPILED } from './base/compiled-schemas.js';
import { CHOICES, type ChoiceSettings, describeObject, type Input } from './base/inputs.js';
import { deepFreeze } from './base/json.js';
import { LIMITS } from './base/limits.js';
import { dateTime, type JsonSchema, type ObjectSchema, pageQuery } from './base/primitives.js';
import type { FlagsSettings } from './base/settings.types.js';
import { type Choices, createValidator, type Validator } from './base/validator.js';
import { EVENT_TYPES, FEATURES } from './features.js';
import type { InputsOf } from './kernel/feature.js';
import type { FeedQuery, WireEventQuery } from './kernel/log/event.types.js';

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

const OWN_INPUTS = {
  eventQuery: describeObject(eventQuery),
  feedQuery: describeObject(feedQuery),
  pageQuery: describeObject<PageQuery>(pageQuery),
};

type Inputs = typeof OWN_INPUTS & InputsOf<typeof FEATURES>;

/** Every input, by its name. A script can read the list without an engine. */
export const INPUTS: Inputs = Object.assign(
  {},
  OWN_INPUTS,
  ...FEATURES.map((feature) => ('inputs' in feature ? feature.inputs : {})),
);

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
