import { FlagsError } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { name, type ObjectSchema } from '../../base/primitives.js';
import { type IndexDocuments, writeIndexDocuments } from '../../storage/index-writer.js';
import type { FlagsStorage } from '../../storage/port.js';
import type { ConsumeOptions, ConsumerReset } from './consumer.types.js';

/** The cursor and the lease of a consumer. */
export interface ConsumerState {
  readonly name: string;
  /** null: at the beginning of the log. */
  readonly position: string | null;
  /** The number of resets. If it has changed, the holder of the lease drops its own position. */
  readonly resets: number;
  /** The runner that holds the lease; null if none does. Unique: two runners may have the same node. */
  readonly holder: string | null;
  readonly node: string | null;
  readonly since: string | null;
  readonly error: string | null;
}

/** Without a summary: a consumer is small, and lists show most of it. */
export const consumerDocuments: IndexDocuments<ConsumerState> = {
  kind: 'consumer',
  parentOf: () => null,
  summarize: () => null,
};

/** Decides what to write, from the stored consumer and its revision. See {@link writeIndexDocuments}. */
export type DecideConsumer = (stored: ConsumerState | undefined, revision: number) => ConsumerState | null | undefined;

/** Throws `too_much_contention` if other processes keep changing the consumer. */
export async function writeConsumer(storage: FlagsStorage, name: string, decide: DecideConsumer): Promise<void> {
  if (await writeIndexDocuments(storage, consumerDocuments, [{ id: name, decide }])) return;
  throw new FlagsError('too_much_contention', `Other processes keep changing the consumer ${name}; try again later.`);
}

export function consumerNotFound(name: string): FlagsError {
  return new FlagsError('consumer_not_found', `There is no consumer ${name}; list the consumers.`);
}

const from = { type: 'string', enum: ['now', 'beginning'] };

/** A name, and the options that are not functions. */
export interface ConsumerInput extends Pick<ConsumeOptions, 'from' | 'lease'> {
  readonly name: string;
}

export const consumerInput: ObjectSchema<ConsumerInput> = {
  type: 'object',
  properties: { name, from, lease: { type: 'number', minimum: 1000, maximum: LIMITS.consumerLease } },
  required: ['name'],
};

export const consumerReset: ObjectSchema<ConsumerReset> = { type: 'object', properties: { from }, required: ['from'] };
