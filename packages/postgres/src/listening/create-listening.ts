import { FlagsError } from '@flags/core';
import { surviveIdleErrors } from '../connection/idle-errors.js';
import { openPool } from '../connection/open-pool.js';
import type { PgPool } from '../driver.js';
import type { CheckedOptions } from '../options.js';
import { createListener, type Listener } from './listener.js';
import type { Channel } from './notifier.js';

/**
 * A listener as the options want it; undefined for none. Fails with `invalid_input` when the host asks for one and its
 * pool has only one connection.
 */
export function createListening(pool: PgPool, options: CheckedOptions & Channel): Listener | undefined {
  const { listen, source, connectTimeout } = options;
  if (listen === false) return undefined;
  const own = 'connectionString' in source ? source.connectionString : undefined;
  const connectionString = typeof listen === 'string' ? listen : own;
  if (connectionString === undefined) {
    if ((pool.options?.max ?? Number.POSITIVE_INFINITY) > 1) return createListener({ ...options, pool });
    if (listen === undefined) return undefined;
    const message =
      'listen takes one connection of the pool for good, and this pool has only one: give it a larger max.';
    throw new FlagsError('invalid_input', message);
  }
  const apart = openPool({ connectionString, connectTimeout, max: 1 });
  surviveIdleErrors(apart);
  const listener = createListener({ ...options, pool: apart });
  return {
    watch: listener.watch,
    async close() {
      await listener.close();
      await apart.end();
    },
  };
}
