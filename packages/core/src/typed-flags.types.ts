import type {
  ContextArgument,
  ContextualFlags,
  EnvironmentConfiguration,
  EvaluatedFlag,
  EvaluatedVariant,
  EvaluationContext,
  FallbackVariant,
  FlagExplanation,
} from './evaluation/evaluation.types.js';
import type { Flags } from './flags.js';
import type { ActorOptions, GivenActor } from './kernel/changes/change-set.types.js';
import type { RegisteredFlags } from './typed-flags/registered-flags.types.js';
import type {
  ContextDeclarations,
  DeclaredFlag,
  EnvironmentName,
  FlagDrift,
  FlagName,
  FlagPayload,
  FlagsSchema,
  StrategyName,
  VariantName,
} from './typed-flags/schema.types.js';

/** The result of `openFlags` with a schema: {@link Flags} whose evaluation accepts declared names only. */
export interface TypedFlags<Schema extends FlagsSchema, Own extends string = never>
  extends Omit<Flags<Own | StrategyName<Schema>>, keyof TypedEvaluation<Schema> | 'as' | 'evaluator'>,
    TypedEvaluation<Schema> {
  /** The schema that the flags were created with. */
  readonly schema: Schema;

  /**
   * Compares the schema with the stored flags of all projects. Returns an empty list if nothing differs. Reads from
   * memory.
   *
   * @example
   * for (const { kind, message } of await flags.drift()) console.warn(kind, message);
   */
  drift(): Promise<readonly FlagDrift[]>;

  /** Like {@link Flags.evaluator}, for declared names. */
  readonly evaluator: TypedEvaluator<Schema>;

  /** Like {@link Flags.as}. */
  as(actor: GivenActor, options?: ActorOptions): TypedFlags<Schema, Own>;
}

/** The name of a declared flag; `never` for another text. An intersection would visit every declared name at each call. */
export type KnownName<Schema extends FlagsSchema, Name extends string> = Name extends FlagName<Schema> ? Name : never;

/** {@link Flags}' evaluation for declared flags, environments and context properties. */
export interface TypedEvaluation<Schema extends FlagsSchema> {
  /** Like {@link Flags.isEnabled}. */
  isEnabled<Name extends string, Given>(
    flag: DeclaredFlag<Schema, Name>,
    context?: ContextArgument<Given, TypedContext<Schema>>,
    options?: TypedOptions<Schema, boolean>,
  ): boolean;

  /** Like {@link Flags.getVariant}. Also returns the names of stored variants that are not declared. */
  getVariant<Name extends string, Given>(
    flag: DeclaredFlag<Schema, Name>,
    context?: ContextArgument<Given, TypedContext<Schema>>,
    options?: TypedOptions<Schema, TypedFallback<Schema, KnownName<Schema, Name>>>,
  ): TypedVariant<Schema, KnownName<Schema, Name>>;

  /** Like {@link Flags.getPayload}. Reports a payload that does not match its declaration, and returns `fallback`. */
  getPayload<Name extends string, Given>(
    flag: DeclaredFlag<Schema, Name>,
    context: ContextArgument<Given, TypedContext<Schema>> | undefined,
    options: TypedOptions<Schema, FlagPayload<Schema, KnownName<Schema, Name>>> & {
      readonly fallback: FlagPayload<Schema, KnownName<Schema, Name>>;
    },
  ): FlagPayload<Schema, KnownName<Schema, Name>>;
  getPayload<Name extends string, Given>(
    flag: DeclaredFlag<Schema, Name>,
    context?: ContextArgument<Given, TypedContext<Schema>>,
    options?: TypedOptions<Schema, undefined>,
  ): FlagPayload<Schema, KnownName<Schema, Name>> | undefined;

  /** Like {@link Flags.forContext}. */
  forContext<Given>(
    context: ContextArgument<Given, TypedContext<Schema>>,
    options?: TypedChoice<Schema>,
  ): TypedContextualFlags<Schema>;

  /** Like {@link Flags.explain}. */
  explain<Name extends string, Given>(
    flag: DeclaredFlag<Schema, Name>,
    context?: ContextArgument<Given, TypedContext<Schema>>,
    options?: TypedChoice<Schema>,
  ): FlagExplanation;

  /** Like {@link Flags.evaluateAll}. */
  evaluateAll<Given>(
    context: ContextArgument<Given, TypedContext<Schema>>,
    options?: TypedChoice<Schema>,
  ): readonly EvaluatedFlag[];

  /** Like {@link Flags.configuration}. */
  configuration(options?: TypedChoice<Schema>): EnvironmentConfiguration;
}

/** Evaluation of declared flags without administration. */
export type TypedEvaluator<Schema extends FlagsSchema> = Omit<TypedEvaluation<Schema>, 'configuration'>;

/** {@link ContextualFlags} for declared flags. */
export interface TypedContextualFlags<Schema extends FlagsSchema>
  extends Omit<ContextualFlags, 'isEnabled' | 'getVariant' | 'getPayload'> {
  /** Like {@link ContextualFlags.isEnabled}. */
  isEnabled<Name extends string>(flag: DeclaredFlag<Schema, Name>, options?: TypedFallbackOption<boolean>): boolean;
  /** Like {@link ContextualFlags.getVariant}. */
  getVariant<Name extends string>(
    flag: DeclaredFlag<Schema, Name>,
    options?: TypedFallbackOption<TypedFallback<Schema, KnownName<Schema, Name>>>,
  ): TypedVariant<Schema, KnownName<Schema, Name>>;
  /** Like {@link ContextualFlags.getPayload}. */
  getPayload<Name extends string>(
    flag: DeclaredFlag<Schema, Name>,
    options: Required<TypedFallbackOption<FlagPayload<Schema, KnownName<Schema, Name>>>>,
  ): FlagPayload<Schema, KnownName<Schema, Name>>;
  getPayload<Name extends string>(
    flag: DeclaredFlag<Schema, Name>,
  ): FlagPayload<Schema, KnownName<Schema, Name>> | undefined;
}

/** The contextual flags of the schema in {@link RegisteredFlags}; untyped if the application registers none. */
export type RegisteredContextualFlags = RegisteredFlags extends { readonly schema: infer Schema extends FlagsSchema }
  ? TypedContextualFlags<Schema>
  : ContextualFlags;

/** An environment of the schema. */
export interface TypedChoice<Schema extends FlagsSchema> {
  /** Default: the instance's default environment. */
  readonly environment?: EnvironmentName<Schema> | undefined;
}

/** The fallback of an evaluation. */
export interface TypedFallbackOption<Fallback> {
  /** The result for an unknown flag; for `getPayload` also without a valid payload. */
  readonly fallback?: Fallback;
}

/** The environment of an evaluation, and its fallback. */
export interface TypedOptions<Schema extends FlagsSchema, Fallback>
  extends TypedChoice<Schema>,
    TypedFallbackOption<Fallback> {}

/** The variant to return for an unknown flag. */
export interface TypedFallback<Schema extends FlagsSchema, Name extends FlagName<Schema>> extends FallbackVariant {
  readonly name: VariantName<Schema, Name> | 'disabled';
}

/** A declared flag's variant for a context. */
export interface TypedVariant<Schema extends FlagsSchema, Name extends FlagName<Schema>> extends EvaluatedVariant {
  /** A declared variant, or `disabled` if the flag is off or has no variants. */
  readonly name: VariantName<Schema, Name> | 'disabled';
}

/**
 * An evaluation context. Put declared properties beside `userId`, or in `properties`. Without declared properties,
 * `properties` may hold anything.
 */
export type TypedContext<Schema extends FlagsSchema> = [string | never] extends [keyof Schema['context']]
  ? EvaluationContext
  : [keyof Schema['context']] extends [never]
    ? EvaluationContext
    : Omit<EvaluationContext, 'properties'> &
        TypedProperties<Schema> & { readonly properties?: TypedProperties<Schema> | undefined };

/** The declared context properties, all optional. */
export type TypedProperties<Schema extends FlagsSchema> = ContextProperties<Schema['context']>;

type ContextProperties<Declarations extends ContextDeclarations> = {
  readonly [Name in keyof Declarations]?: ContextValue<Declarations[Name]> | undefined;
};

type ContextValue<Declaration> = Declaration extends readonly (infer Value)[]
  ? Value
  : Declaration extends 'number'
    ? number
    : Declaration extends 'boolean'
      ? boolean
      : string;
