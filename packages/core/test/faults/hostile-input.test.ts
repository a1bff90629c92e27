import { extent } from '../../../../test/extent.js';
import { SEED } from '../../../../test/seed.js';
import { createFlags, type Flags, isFlagsError } from '../../src/index.js';
import type { Storage } from '../../src/storage/port.js';
import { contentOf } from '../properties/stored-content.js';
import { PROPERTY_STORAGES } from '../storage-kinds.js';
import { type HostileValue, hostileValues, spoil } from './hostile-values.js';
import { type Attempt, furnish, OPERATIONS } from './operations.js';

const BYTES = extent({ short: 1024 * 1024, full: 50 * 1024 * 1024 });
const ATTEMPTS = Object.values<Attempt | readonly Attempt[]>(OPERATIONS).flat();
const SILENT = { pollInterval: 0, usageInterval: 0, onProblem: () => undefined };

describe.each(PROPERTY_STORAGES)(
  `the interface on $name, given ${BYTES} bytes of hostile input (seed ${SEED})`,
  ({ open }) => {
    it('refuses invalid input with a FlagsError, and stores none of it', async () => {
      const values = hostileValues(SEED);
      let refused = 0;
      for (let given = 0; given < BYTES; ) {
        const { storage, dispose } = await open();
        const flags = await createFlags({ ...SILENT, storage });
        await furnish(flags);
        let before = await textOf(storage);
        for (const attempt of ATTEMPTS) {
          const hostile = values.next().value;
          given += hostile.size;
          const error = await attempt(spoiling(flags, hostile)).then(() => undefined, asFlagsError);
          const after = await textOf(storage);
          if (error !== undefined) {
            refused += 1;
            if (after !== before) expect(JSON.parse(after)).toEqual(JSON.parse(before));
          }
          before = after;
        }
        await flags.createFlag({ project: 'default' }, { name: 'alive' });
        await dispose();
      }
      expect(refused).toBeGreaterThan(ATTEMPTS.length / 4);
      expect(Object.keys(Object.prototype)).toEqual([]);
    });
  },
);

/** All that is stored. Comparing texts takes a fraction of what comparing objects does. */
async function textOf(storage: Storage): Promise<string> {
  return JSON.stringify(await contentOf(storage));
}

/** The same interface, but for what its operations are given. */
function spoiling(flags: Flags, hostile: HostileValue): Flags {
  return new Proxy(flags, {
    get(target, name, receiver) {
      const operation: unknown = Reflect.get(target, name, receiver);
      if (typeof operation !== 'function') return operation;
      return (...parameters: readonly unknown[]) =>
        operation(...(parameters.length === 0 ? parameters : spoil(parameters, hostile)));
    },
  });
}

function asFlagsError(error: unknown): unknown {
  if (isFlagsError(error)) return error;
  throw error;
}
