import type { FlagName, FlagNameWith, FlagPayload, FlagsSchema } from '@flags/core';
import type { TypedProperties } from '@flags/core/integration/openfeature';
import type { Client, EvaluationContext, EvaluationDetails, FlagEvaluationOptions } from '@openfeature/server-sdk';

/** OpenFeature's context. Declared properties have their declared types. */
export type TypedEvaluationContext<Schema extends FlagsSchema> = EvaluationContext & TypedProperties<Schema>;

/** The evaluation methods of an OpenFeature client. */
type EvaluationMethod = `get${'Boolean' | 'String' | 'Number' | 'Object'}${'Value' | 'Details'}`;

/** An OpenFeature client that accepts declared flags only, and knows the types of their payloads. */
export interface TypedClient<Schema extends FlagsSchema> extends Omit<Client, EvaluationMethod> {
  getBooleanValue(flag: FlagName<Schema>, ...rest: Rest<Schema, boolean>): Promise<boolean>;
  getBooleanDetails(flag: FlagName<Schema>, ...rest: Rest<Schema, boolean>): Promise<EvaluationDetails<boolean>>;
  getStringValue<Name extends FlagNameWith<string, Schema>>(
    flag: Name,
    ...rest: Rest<Schema, string>
  ): Promise<FlagPayload<Schema, Name>>;
  getStringDetails<Name extends FlagNameWith<string, Schema>>(
    flag: Name,
    ...rest: Rest<Schema, string>
  ): Promise<EvaluationDetails<FlagPayload<Schema, Name> & string>>;
  getNumberValue<Name extends FlagNameWith<number, Schema>>(
    flag: Name,
    ...rest: Rest<Schema, number>
  ): Promise<FlagPayload<Schema, Name>>;
  getNumberDetails<Name extends FlagNameWith<number, Schema>>(
    flag: Name,
    ...rest: Rest<Schema, number>
  ): Promise<EvaluationDetails<FlagPayload<Schema, Name> & number>>;
  getObjectValue<Name extends FlagNameWith<object, Schema>>(
    flag: Name,
    ...rest: Rest<Schema, FlagPayload<Schema, Name>>
  ): Promise<FlagPayload<Schema, Name>>;
  getObjectDetails<Name extends FlagNameWith<object, Schema>>(
    flag: Name,
    ...rest: Rest<Schema, FlagPayload<Schema, Name>>
  ): Promise<Omit<EvaluationDetails<string>, 'value'> & { readonly value: FlagPayload<Schema, Name> }>;
}

type Rest<Schema extends FlagsSchema, Default> = [
  defaultValue: Default,
  context?: TypedEvaluationContext<Schema>,
  options?: FlagEvaluationOptions,
];

/**
 * Returns the same client, typed by a schema.
 *
 * @param _schema only its type is used
 * @example
 * const client = typedClient(schema, OpenFeature.getClient());
 * const { color } = await client.getObjectValue('banner', { color: 'none' });
 */
export function typedClient<Schema extends FlagsSchema>(_schema: Schema, client: Client): TypedClient<Schema> {
  return client as unknown as TypedClient<Schema>;
}
