import { isFlagsError, isTransientCode, type Refusal } from '../../base/errors.js';
import type { Lifetime } from '../../base/lifetime.js';

/** Milliseconds that a function of the host may take. */
const PATIENCE = 10_000;

/**
 * Whether an error came from this node, its storage or the host, and is not a refusal: the same call may succeed later.
 */
export function isTransient(error: unknown): boolean {
  return !isFlagsError(error) || isTransientCode(error.code);
}

/** Converts an error to a refusal. Undefined for a transient error: then try again. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!isFlagsError(error) || isTransient(error)) return undefined;
  const { code, message, details } = error;
  return { code, message, details: details.slice(0, 10) };
}

/** Whether the storage failed. Other items then wait for the next poll. */
export function isStorageError(error: unknown): boolean {
  return isFlagsError(error) && error.code !== 'too_much_contention';
}

interface Question {
  /** The name of the option whose function is called. */
  readonly name: string;
  /** Says what happens after an error, for its message. */
  readonly later: string;
}

/**
 * Asks a function of the host. Rejects with an error that is not a `FlagsError`: the host's failure is not the refusal of a
 * change.
 */
export async function askHost(
  { lifetime: { closing } }: { readonly lifetime: Pick<Lifetime, 'closing'> },
  ask: (signal: AbortSignal) => unknown,
  { name, later }: Question,
): Promise<unknown> {
  const asking = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let giveUp = (): void => undefined;
  const tooLong = new Promise<never>((_, reject) => {
    giveUp = () => reject(new Error('the engine was closed'));
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE} ms`)), PATIENCE).unref();
    closing.addEventListener('abort', giveUp, { once: true });
    if (closing.aborted) giveUp();
  });
  try {
    return await Promise.race([Promise.resolve().then(() => ask(asking.signal)), tooLong]);
  } catch (cause) {
    throw new Error(`${name} failed (${String(cause)}); ${later}.`, { cause });
  } finally {
    clearTimeout(timer);
    closing.removeEventListener('abort', giveUp);
    asking.abort();
  }
}
