import { createHash, randomUUID } from 'node:crypto';
import type { Place } from '../schema/table-names.js';
import type { Channel } from './notifier.js';

/** The channel of the tables at a place. Names of channels are cut off like those of tables, so it is a hash. */
export function channelOf({ schema, tablePrefix }: Place): Channel {
  const hash = createHash('sha256')
    .update(JSON.stringify([schema, tablePrefix]))
    .digest('hex');
  return { channel: `flags_${hash.slice(0, 16)}`, node: randomUUID() };
}
