/* Typed flags by themselves, for code that declares flags and does not open them. Nothing here needs Node. */

export { FlagsError, isFlagsError } from './base/errors.js';
export { defineFlags, type SchemaOptions } from './typed-flags/define-flags.js';
export type {
  ContextDeclarations,
  DefaultFlagType,
  EnvironmentName,
  FlagDeclaration,
  FlagDeclarations,
  FlagName,
  FlagNameWith,
  FlagPayload,
  FlagsSchema,
  PayloadDescription,
  StandardSchema,
  ValueDescription,
  VariantName,
} from './typed-flags/schema.types.js';
