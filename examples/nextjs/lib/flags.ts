import { type EvaluationContext, type Flags, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';

const shared = globalThis as typeof globalThis & { flags?: Promise<Flags> };

/**
 * Returns the engine of this process. The first request opens it, because a build evaluates modules as well. Next.js may
 * evaluate this module again, so the engine is a property of `globalThis`.
 */
export function getFlags(): Promise<Flags> {
  shared.flags ??= openFlags({ storage: sqliteStorage(process.env.FLAGS_DB ?? './flags.db') });
  return shared.flags;
}

/** What the browser gets of a flag. */
export interface PageFlag {
  readonly name: string;
  readonly enabled: boolean;
  readonly payload?: string;
}

/** Evaluates the named flags for the browser. The others stay on the server: everybody can read the HTML. */
export async function flagsForPage(context: EvaluationContext, names: readonly string[]): Promise<PageFlag[]> {
  const { evaluator } = await getFlags();
  return evaluator
    .evaluateAll(context)
    .filter(({ name }) => names.includes(name))
    .map(({ name, enabled, variant }) => ({
      name,
      enabled,
      ...(variant.payload && { payload: variant.payload.value }),
    }));
}
