import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverProgram } from './measured-server.js';
import { isWithin, measureAll, type Result, tableOf } from './run.js';
import { FULL_STORE, SHORT_STORE, sizeIn } from './sizes.js';
import { casesIn, type Extent } from './table.js';

/** Prints the table: `node budgets.cjs <folder of the packages> [memory|sqlite] [short|full] [part of a route]`. */
async function print(): Promise<void> {
  const [packages = '', storage = 'sqlite', asked = 'full', only = ''] = process.argv.slice(2);
  const extent: Extent = asked === 'short' ? 'short' : 'full';
  const size = sizeIn(storage, extent === 'full' ? FULL_STORE : SHORT_STORE);
  const directory = mkdtempSync(join(tmpdir(), 'flags-budgets-'));
  const program = serverProgram(packages, join(packages, 'express/test/faults/children/budget-server.ts'));
  let files = 0;
  const place = () => (storage === 'sqlite' ? join(directory, `${++files}.db`) : 'memory');
  try {
    const half = storage === 'memory' ? 1 : 0;
    const cases = casesIn(extent, half).filter(({ route: { method, path }, row }) =>
      `${method} ${path} ${row.name}`.includes(only),
    );
    const begun = performance.now();
    const results: Result[] = [];
    await measureAll(
      program,
      () => ({ storage: place(), size, isThorough: extent === 'full' }),
      cases,
      (result) => {
        results.push(result);
        if (!isWithin(result, 1)) console.error(tableOf([result]).split('\n').at(-1));
      },
    );
    const seconds = Math.round((performance.now() - begun) / 1000);
    const broken = results.filter((result) => !isWithin(result, 1)).length;
    console.log(
      `## Budgets on ${storage}\n\n${results.length} rows in ${seconds} s, ${broken} beyond the budget.\n\n${tableOf(results)}\n`,
    );
  } finally {
    program.remove();
    rmSync(directory, { recursive: true, force: true });
  }
}

void print();
