/**
 * A schema of any library that implements Standard Schema (https://standardschema.dev), such as Zod, Valibot or
 * ArkType. Evaluation is synchronous, so the schema must validate synchronously.
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** The result of a {@link StandardSchema}. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

interface DescribedTypes {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
  readonly 'string[]': readonly string[];
  readonly 'number[]': readonly number[];
  readonly 'boolean[]': readonly boolean[];
}

type TypeName = keyof DescribedTypes;

/** One of these values. */
type Choice = readonly (string | number | boolean)[];

/**
 * A plain description of a value.
 *
 * - `'string'`, `'number'`, `'boolean'`, `'string[]'`, `'number[]'`, `'boolean[]'`: a value of that type. In an object,
 *   `'string?'` is optional.
 * - A list such as `['left', 'right']`: one of these values.
 * - An object: a JSON object with these members. Further members are ignored.
 */
export type ValueDescription = TypeName | `${TypeName}?` | Choice | { readonly [member: string]: ValueDescription };

/** The type of a variant's payload. `null` or `{}`: the variant has no payload. */
export type PayloadDescription = StandardSchema | ValueDescription | null;

/** The flag types of an instance whose options name none. */
export type DefaultFlagType = 'release' | 'experiment' | 'operational' | 'kill-switch' | 'permission';

/** One flag of a schema. */
export interface FlagDeclaration<FlagTypeName extends string = string> {
  /** One of the configured flag types. Default: not compared; a created flag gets the default type. */
  readonly type?: FlagTypeName;
  /** The description of a created flag. */
  readonly description?: string;
  /** The project of a created flag. Default: `default`. */
  readonly project?: string;
  /** The names of the variants, or the payload of each variant by its name. Default: no variants. */
  readonly variants?: readonly string[] | Readonly<Record<string, PayloadDescription>>;
}

/** The flags of a schema by name. */
export type FlagDeclarations<FlagTypeName extends string = string> = Readonly<
  Record<string, FlagDeclaration<FlagTypeName>>
>;

/** Custom context properties: the possible values, or their type. */
export type ContextDeclarations = Readonly<Record<string, readonly string[] | 'string' | 'number' | 'boolean'>>;

/** Declares the flags, environments and context properties of an application. Created by `defineFlags`; frozen. */
export interface FlagsSchema<
  Declarations extends FlagDeclarations = FlagDeclarations,
  Environment extends string = string,
  Context extends ContextDeclarations = ContextDeclarations,
  StrategyName extends string = string,
> {
  readonly flags: Declarations;
  readonly environments?: readonly Environment[] | undefined;
  readonly context: Context;
  /** The names of strategies that are not built in. */
  readonly strategies?: readonly StrategyName[] | undefined;
}

/** The names of the declared flags. */
export type FlagName<Schema extends FlagsSchema> = keyof Schema['flags'] & string;

/**
 * A name that must be one of the declared flags. For another text, the type is a sentence that names the closest flag,
 * which the compiler shows.
 */
export type DeclaredFlag<Schema extends FlagsSchema, Given extends string> =
  Given extends FlagName<Schema> ? Given : NoInfer<UndeclaredFlag<Schema, Given>>;

type UndeclaredFlag<Schema extends FlagsSchema, Given extends string> = string extends Given
  ? FlagName<Schema>
  : [ClosestName<Given, FlagName<Schema>>] extends [never]
    ? `There is no flag ${Given}`
    : `There is no flag ${Given}: did you mean ${ClosestName<Given, FlagName<Schema>>}?`;

/** The names at an edit distance of at most 2 (names below four characters: 1), in any case. */
type ClosestName<Given extends string, Name extends string> = Name extends unknown
  ? IsWithin<Lowercase<Given>, Lowercase<Name>, Name extends Long ? 2 : 1> extends true
    ? Name
    : never
  : never;

type Long = `${string}${string}${string}${string}${string}`;
/** One less than the index. */
type Fewer = [never, 0, 1];

/** Whether two texts differ by at most `Edits` inserted, removed or replaced characters. */
type IsWithin<
  One extends string,
  Other extends string,
  Edits extends 0 | 1 | 2,
> = One extends `${infer A}${infer OneRest}`
  ? Other extends `${infer B}${infer OtherRest}`
    ? A extends B
      ? IsWithin<OneRest, OtherRest, Edits>
      : Edits extends 1 | 2
        ? true extends
            | IsWithin<OneRest, OtherRest, Fewer[Edits]>
            | IsWithin<OneRest, Other, Fewer[Edits]>
            | IsWithin<One, OtherRest, Fewer[Edits]>
          ? true
          : false
        : false
    : Edits extends 1 | 2
      ? IsWithin<OneRest, '', Fewer[Edits]>
      : false
  : Other extends `${string}${infer OtherRest}`
    ? Edits extends 1 | 2
      ? IsWithin<'', OtherRest, Fewer[Edits]>
      : false
    : true;

/** The names of the declared environments. */
export type EnvironmentName<Schema extends FlagsSchema> = NonNullable<Schema['environments']>[number];

/** The names of the declared strategies. */
export type StrategyName<Schema extends FlagsSchema> = NonNullable<Schema['strategies']>[number];

/** The names of the declared variants of a flag. */
export type VariantName<Schema extends FlagsSchema, Name extends FlagName<Schema>> = Name extends unknown
  ? VariantsOf<Schema['flags'][Name]> extends readonly (infer Variant extends string)[]
    ? Variant
    : keyof VariantsOf<Schema['flags'][Name]> & string
  : never;

/** The payload of a flag: a union of its variants' payloads. `undefined` if no variant has a payload. */
export type FlagPayload<Schema extends FlagsSchema, Name extends FlagName<Schema>> = Name extends unknown
  ? VariantsOf<Schema['flags'][Name]> extends infer Variants
    ? Variants extends readonly string[]
      ? undefined
      : string extends keyof Variants
        ? unknown
        : [keyof Variants] extends [never]
          ? undefined
          : PayloadOf<Variants[keyof Variants]>
    : never
  : never;

/** The names of the flags whose payloads are of a type, such as `string`. */
export type FlagNameWith<Payload, Schema extends FlagsSchema> = {
  [Name in FlagName<Schema>]: FlagPayload<Schema, Name> extends Payload ? Name : never;
}[FlagName<Schema>];

type VariantsOf<Declaration> = Declaration extends { readonly variants: infer Variants }
  ? Variants
  : Record<never, never>;

/** The type of a described payload. */
export type PayloadOf<Description> =
  Description extends StandardSchema<infer Output>
    ? Output
    : Description extends null
      ? undefined
      : Description extends `${infer Type extends TypeName}?`
        ? DescribedTypes[Type]
        : Description extends TypeName
          ? DescribedTypes[Description]
          : Description extends readonly (infer Value)[]
            ? Value
            : [keyof Description] extends [never]
              ? undefined
              : ObjectOf<Description>;

type ObjectOf<Members> = {
  readonly [Member in keyof Members as Members[Member] extends `${string}?` ? never : Member]: PayloadOf<
    Members[Member]
  >;
} & {
  readonly [Member in keyof Members as Members[Member] extends `${string}?` ? Member : never]?: PayloadOf<
    Members[Member]
  >;
};

/** The difference between a declared flag and the stored one. */
export interface FlagDrift {
  readonly kind: DriftKind;
  readonly flag: string;
  /** The variant whose payload does not fit. */
  readonly variant?: string;
  /** One sentence with the declared and the stored state. */
  readonly message: string;
}

/**
 * - `missing`: the flag is declared, but not stored, or archived.
 * - `undeclared`: the flag is stored, but not declared.
 * - `type`: the flag has another type.
 * - `variants`: the flag has other variants.
 * - `payload`: the payload of a variant is missing or does not fit.
 */
export type DriftKind = 'missing' | 'undeclared' | 'type' | 'variants' | 'payload';
