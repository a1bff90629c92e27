import { readFileSync, writeFileSync } from 'node:fs';
import { isFlagsError } from '../../src/base/errors.js';

/** The first 200 characters of the message of a refusal, and what it names beside its first issue. */
export type Refusal = string | readonly string[];

export type RefusalTable = Readonly<Record<string, Readonly<Record<string, Refusal>>>>;

interface Detail {
  readonly message: string;
  readonly path?: string | undefined;
}

/** Writes a refusal as short text. Lists are cut: they say which issues there are, and how many. */
export function toRefusal(message: string, details: readonly Detail[] = []): Refusal {
  const issues = details.map((detail) => `${detail.path ?? '-'} ${detail.message}`.slice(0, 120));
  if (issues.length < 2) return message.slice(0, 200);
  const cut = issues.length > 6 ? [...issues.slice(0, 4), `… ${issues.length}`, ...issues.slice(-1)] : issues;
  return [message.slice(0, 120), ...cut];
}

/** Returns why a call was refused; undefined if it was not, or for another reason than its input. */
export async function refusalOf(call: () => unknown): Promise<Refusal | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (!isFlagsError(error)) throw error;
    return error.code === 'invalid_input' ? toRefusal(error.message, error.details) : undefined;
  }
}

/**
 * Returns the recorded table. With `RECORD_REFUSALS=1` in the environment, writes this table first: do so only when a message
 * has to change.
 */
export function recorded(file: string, table: RefusalTable): RefusalTable {
  if (process.env.RECORD_REFUSALS === '1') writeFileSync(file, `${JSON.stringify(table, null, 1)}\n`);
  return JSON.parse(readFileSync(file, 'utf8'));
}
