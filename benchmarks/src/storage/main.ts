import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { table } from '../markdown.js';
import { compete, type Outcome } from '../rounds.js';
import { inTemporaryFolder } from '../temporary-folder.js';
import { openBareFlags } from './bare-flags.js';
import { openBareMetrics } from './bare-metrics.js';
import { contests, fill } from './contests.js';

const ROUNDS = 30;

/** Prints what operations cost on SQLite, beside the driver alone. Arguments: parts of the names of operations. */
async function main(folder: string): Promise<void> {
  const paths = { flags: join(folder, 'flags.db'), bare: join(folder, 'bare.db') };
  const filling = await createFlags({ storage: sqliteStorage(paths.flags) });
  await fill(filling);
  await filling.close();
  await copyFile(paths.flags, paths.bare);
  const flags = await createFlags({ storage: sqliteStorage(paths.flags) });
  const [bare, metrics] = [openBareFlags(paths.bare), openBareMetrics(paths.bare)];
  const rows: string[][] = [];
  const wanted = process.argv.slice(2);
  for (const contest of contests({ flags, bare, metrics })) {
    if (wanted.length > 0 && !wanted.some((part) => contest.name.includes(part))) continue;
    const row = rowOf(contest.name, await compete(contest, ROUNDS));
    rows.push(row);
    console.error(row.join('  '));
  }
  await flags.close();
  bare.close();
  metrics.close();
  console.log(`
## Operations on SQLite, beside the driver alone

Microseconds per operation with \`synchronous=FULL\`, on a file of 1,000 flags: the median of single operations, and in brackets the mean
processor time. _Ratio_ is the speed as a part of the driver's speed.

${table(['operation', '@flags/core', 'better-sqlite3 alone', 'ratio'], rows)}
`);
}

function rowOf(name: string, { core, bare }: Outcome): string[] {
  const beside = [bare.time / core.time, bare.cpu / core.cpu].map((ratio) => ratio.toFixed(2));
  const texts = [core, bare].map(({ time, cpu }) => `${microseconds(time)} (${microseconds(cpu)})`);
  return [name, ...texts, `${beside[0]} (${beside[1]})`];
}

function microseconds(figure: number): string {
  return figure.toLocaleString('en', { maximumSignificantDigits: 3 });
}

await inTemporaryFolder(main);
