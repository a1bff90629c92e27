import type { EvaluationContext } from '../evaluation/evaluated.types.js';
import type { EvaluationOperations } from '../evaluation/evaluation.types.js';
import type { FlagsSchema } from './schema.types.js';

/**
 * Returns operations that accept declared context properties beside `userId`: `{ plan: 'pro' }` means
 * `{ properties: { plan: 'pro' } }`. Returns the same operations if the schema declares no properties.
 */
export function acceptDeclaredProperties(
  operations: EvaluationOperations,
  { context: declared }: FlagsSchema,
): EvaluationOperations {
  const names = Object.keys(declared);
  if (names.length === 0) return operations;
  const lift = (context: EvaluationContext | undefined) => liftProperties(context, names);
  return {
    ...operations,
    isEnabled: (flag, context, options) => operations.isEnabled(flag, lift(context), options),
    getVariant: (flag, context, options) => operations.getVariant(flag, lift(context), options),
    getPayload: (flag, context, options) => operations.getPayload(flag, lift(context), options),
    forContext: (context, options) => operations.forContext(lift(context) ?? context, options),
    explain: (flag, context, options) => operations.explain(flag, lift(context), options),
  };
}

/** Does not throw, whatever the context holds. A property beside `userId` wins over the same one in `properties`. */
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
