import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Awaitable } from '@flags/core/types';
import type { StoreSize } from '../../../http/test/budgets/definitions.js';
import { serverProgram } from '../../../http/test/budgets/measured-server.js';
import { isWithin, measureAll, type Result, tableOf } from '../../../http/test/budgets/run.js';
import { FULL_STORE, LARGE_STORE, SHORT_STORE, sizeIn } from '../../../http/test/budgets/sizes.js';
import { casesIn, type Extent } from '../../../http/test/budgets/table.js';

/** Where the measured servers keep their data. */
interface Place {
  /** The program of the server, in the folder of the packages. */
  readonly program: string;
  /** Names a new storage. */
  readonly next: () => Awaitable<string>;
  /** Copies a storage that no process uses, which takes seconds instead of minutes. Absent: there is nothing to copy. */
  readonly copy?: (storage: string) => Awaitable<string>;
  readonly close: () => Promise<void>;
}

const EXPRESS_SERVER = 'http/test/budgets/children/budget-server.ts';

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  memory: async () => ({ program: EXPRESS_SERVER, next: () => 'memory', close: async () => undefined }),
  async sqlite() {
    const directory = mkdtempSync(join(tmpdir(), 'flags-budgets-'));
    let files = 0;
    const next = () => join(directory, `${++files}.db`);
    return {
      program: EXPRESS_SERVER,
      next,
      copy(file) {
        const copied = next();
        for (const part of ['', '-wal']) if (existsSync(file + part)) copyFileSync(file + part, copied + part);
        return copied;
      },
      close: async () => rmSync(directory, { recursive: true, force: true }),
    };
  },
  async postgres() {
    // Only this storage needs the package, which is an ES module.
    const { freshDatabase, startPostgres } = await import('@flags/test-postgres');
    const server = await startPostgres();
    return {
      program: 'postgres/test/faults/children/budget-server.ts',
      next: async () => (await freshDatabase({ server: server.url() })).url,
      async copy(template) {
        // PostgreSQL copies no database with sessions, and ends those of a killed process a moment later.
        for (let attempt = 1; ; attempt++) {
          try {
            return (await freshDatabase({ server: server.url(), template })).url;
          } catch (error) {
            if (attempt === 50) throw error;
            await pause(200);
          }
        }
      },
      close: () => server.close(),
    };
  },
};

const STORES: Readonly<Record<string, StoreSize>> = { short: SHORT_STORE, full: FULL_STORE, large: LARGE_STORE };

/**
 * Prints the table: `node budgets.cjs <folder of the packages> [memory|sqlite|postgres] [short|full|large] [part of a row]`.
 * `large` is the full form on few large flags.
 */
async function print(): Promise<void> {
  const [packages = '', storage = 'sqlite', asked = 'full', only = ''] = process.argv.slice(2);
  const extent: Extent = asked === 'short' ? 'short' : 'full';
  const size = sizeIn(storage, STORES[asked] ?? FULL_STORE);
  const half = storage === 'memory' ? 1 : 0;
  const cases = casesIn(extent, half).filter(({ route: { method, path }, row }) =>
    `${method} ${path} ${row.name}`.includes(only),
  );
  const place = await PLACES[storage]?.();
  if (!place) throw new Error(`No storage ${storage}. There are ${Object.keys(PLACES).join(', ')}.`);
  const program = serverProgram(packages, join(packages, place.program));
  const isThorough = extent === 'full';
  try {
    const begun = performance.now();
    const first = await place.next();
    if (place.copy) await (await program.start({ storage: first, size, isThorough })).stop();
    const configuration = async () =>
      place.copy
        ? { storage: await place.copy(first), size, isThorough, isFilled: true }
        : { storage: await place.next(), size, isThorough };
    const results: Result[] = [];
    await measureAll(program, configuration, cases, (result) => {
      results.push(result);
      if (!isKept(result)) console.error(tableOf([result]).split('\n').at(-1));
    });
    const seconds = Math.round((performance.now() - begun) / 1000);
    const broken = results.filter((result) => !isKept(result)).length;
    console.log(
      `## Budgets on ${storage}, ${asked}\n\n${results.length} rows in ${seconds} s, ${broken} beyond the budget.\n\n${tableOf(results)}\n`,
    );
  } finally {
    program.remove();
    await place.close();
  }
}

/** Within the promise itself, at the first try or a later one, and without the end of a server. */
function isKept(result: Result): boolean {
  return result.deaths === 0 && isWithin(result, 1);
}

void print();
