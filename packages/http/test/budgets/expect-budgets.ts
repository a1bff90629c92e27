import type { Awaitable } from '@flags/core/types';
import { extent } from '../../../../test/extent.js';
import { ROUTES } from '../../src/routes.js';
import type { StoreSize } from './definitions.js';
import type { ServerProgram } from './measured-server.js';
import { isWithin, measureAll, type Result, tableOf } from './run.js';
import { FULL_STORE, LARGE_STORE, SHORT_STORE, sizeIn } from './sizes.js';
import { casesIn, ROWS } from './table.js';

const EXTENT = extent({ short: 'short', full: 'full' } as const);
const STORES: Readonly<Record<string, StoreSize>> = extent({
  short: { '500 flags': SHORT_STORE },
  full: { '10,000 flags': FULL_STORE, 'sixteen flags of 1 MiB': LARGE_STORE },
});

/** @param place returns `memory`, or the place of a new storage */
export function expectBudgets(storage: string, program: () => ServerProgram, place: () => Awaitable<string>): void {
  describe.each(Object.entries(STORES))(
    `any request to a server on ${storage} with %s and a heap of 192 MB`,
    (_, store) => {
      // Only what the tests need: the table is long, and results hold texts.
      const routes = new Set<string>();
      const failed: Result[] = [];

      beforeAll(async () => {
        const size = sizeIn(storage, store);
        const configuration = async () => ({ storage: await place(), size, isThorough: EXTENT === 'full' });
        await measureAll(program(), configuration, casesIn(EXTENT, storage === 'memory' ? 1 : 0), (result) => {
          routes.add(result.route);
          if (!isWithin(result)) failed.push(result);
        });
      }, 1_200_000);

      it('has rows for every route', () => {
        expect(ROUTES.filter(({ method, action }) => method !== 'GET' && ROWS[action] === undefined)).toEqual([]);
        expect(routes).toEqual(new Set(ROUTES.map(({ method, path }) => `${method} ${path}`)));
      });

      it('is answered with the status of the row, and never with a fault of the server', () => {
        expect(tableOf(failed.filter(({ isAsExpected }) => !isAsExpected))).toBe(tableOf([]));
      });

      it('does not delay other requests', () => {
        expect(tableOf(failed.filter(({ isAsExpected }) => isAsExpected))).toBe(tableOf([]));
      });
    },
  );
}
