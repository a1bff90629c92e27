import type { EvaluationContext } from './evaluated.types.js';
import type { EvaluationOperations } from './evaluation.types.js';

/** A context with longer JSON is not kept, so that 1,000 of them need about 2 MB. */
const MAX_LENGTH = 1_000;
/** A context with more properties is not kept: copying them would take too long. */
const MAX_PROPERTIES = 50;

/**
 * Returns operations that keep the contexts they evaluate, each once, the newest `limit` of them. They stay in the
 * memory of the process.
 */
export function rememberContexts(operations: EvaluationOperations, limit: number): EvaluationOperations {
  const texts = new Set<string>();
  let last: unknown;

  function remember(context: EvaluationContext | undefined): void {
    if (context === last) return;
    last = context;
    const text = textOf(context);
    if (text === undefined) return;
    texts.delete(text);
    texts.add(text);
    const [oldest = text] = texts;
    if (texts.size > limit) texts.delete(oldest);
  }

  return {
    ...operations,
    isEnabled(flag, context, options) {
      remember(context);
      return operations.isEnabled(flag, context, options);
    },
    getVariant(flag, context, options) {
      remember(context);
      return operations.getVariant(flag, context, options);
    },
    getPayload(flag, context, options) {
      remember(context);
      return operations.getPayload(flag, context, options);
    },
    forContext(context, options) {
      remember(context);
      return operations.forContext(context, options);
    },
    recentContexts: () => [...texts].reverse().map((text): EvaluationContext => JSON.parse(text)),
  };
}

/** Returns a context as JSON, without its time. Undefined for one without fields, and for one that is too large. */
function textOf(context: EvaluationContext | undefined): string | undefined {
  try {
    const { userId, sessionId, remoteAddress, environment, appName, properties = {} } = context ?? {};
    let count = 0;
    for (const _ in properties) if (++count > MAX_PROPERTIES) return undefined;
    const fields = onlyScalars({ userId, sessionId, remoteAddress, environment, appName });
    const own = onlyScalars(properties);
    const kept = Object.keys(own).length > 0 ? { ...fields, properties: own } : fields;
    const text = JSON.stringify(kept);
    return text.length > MAX_LENGTH || text === '{}' ? undefined : text;
  } catch {
    // A context may hold anything, getters that throw too.
    return undefined;
  }
}

function onlyScalars(fields: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value)),
  );
}
