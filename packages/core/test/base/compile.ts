import { compileSchemas } from '../../../../scripts/schema-compiler.cjs';
import type { JsonSchema } from '../../src/base/primitives.js';
import { type CompiledSchema, createValidator, type Validator } from '../../src/base/validator.js';

/** Compiles a schema as the build does. */
function compile(schema: JsonSchema): CompiledSchema {
  const { declarations, object } = compileSchemas({ schema });
  return new Function(`${declarations}\nreturn ${object}.schema;`)();
}

/** Creates the validator of a schema that no package has. */
export function validatorOf<T>(
  schema: JsonSchema,
  findIssues?: Parameters<typeof createValidator<T>>[1],
): Validator<T> {
  return createValidator<T>(compile(schema), findIssues);
}
