/** A JSON Schema, of the keywords that draft 7 and 2020-12 have in common. */
export type JsonSchema = Readonly<Record<string, unknown>>;

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];
type RequiredKeys<T> = Exclude<keyof T, OptionalKeys<T>>;

/** The schema of an object type: it names all members of the type, and no others, so that the two cannot drift. */
export interface ObjectSchema<T> extends JsonSchema {
  readonly type: 'object';
  readonly properties: { readonly [K in keyof Required<T>]: JsonSchema };
  readonly required?: readonly RequiredKeys<T>[];
  readonly additionalProperties?: false;
}
