import { statSync } from 'node:fs';
import { join } from 'node:path';
import { memoryStorage, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { inTemporaryFolder } from '../temporary-folder.js';
import { type Figures, figuresOf, type Place } from './figures.js';
import { figuresTable, growthTable } from './table.js';

const FLAGS = 10_000;

/** Prints the cost of operations among few flags and among many. An argument: the largest number of flags. */
async function main(folder: string): Promise<void> {
  const largest = Number(process.argv[2] ?? Number.POSITIVE_INFINITY);
  const sqlitePlace = (number: number) => openFile(join(folder, `${number}.db`));
  const [inMemory, onSqlite] = [await growthTable(openMemory, largest), await growthTable(sqlitePlace, largest)];
  const spread: Figures[] = [];
  for (const projects of [1, 1_000]) {
    const population = { flags: Math.min(FLAGS, largest), projects };
    spread.push(await figuresOf(openFile(join(folder, `of-${projects}.db`)), population));
  }
  console.log(`
# Growth

Microseconds of one call (median), unless another unit is named. In brackets: the ratio to a tenth of the flags.

## In memory

${inMemory}

## On SQLite

${onSqlite}

## ${Math.min(FLAGS, largest).toLocaleString('en')} flags in one project and in 1,000, on SQLite

${figuresTable(['one project', '1,000 projects'], spread)}
`);
}

function openFile(path: string): Place {
  return { open: () => openFlags({ storage: sqliteStorage(path) }), size: () => statSync(path).size };
}

/** A storage in memory ends with its instance, so instances are opened on one that does not close. */
function openMemory(): Place {
  const kept = { ...memoryStorage(), close: () => undefined };
  return { open: () => openFlags({ storage: kept }), size: () => undefined };
}

await inTemporaryFolder(main);
