import { table } from '../markdown.js';
import { inTemporaryFolder } from '../temporary-folder.js';
import { type Figures, figuresOf } from './figures.js';
import { PLACES, type PlaceName, placeOf } from './place.js';
import type { Population } from './population.js';

const SIZES = [100, 1_000, 10_000, 100_000];
const MANY_PROJECTS: readonly Population[] = [
  { flags: 10_000, projects: 1 },
  { flags: 10_000, projects: 1_000 },
];

/** Prints what operations cost among few flags and among many. An argument: the largest number of flags. */
async function main(folder: string): Promise<void> {
  const largest = Number(process.argv[2] ?? Number.POSITIVE_INFINITY);
  const sizes = SIZES.filter((size) => size <= largest).map((flags) => ({ flags, projects: 1 }));
  const sections: string[] = [];
  for (const name of PLACES) sections.push(`### ${name}\n\n${growthTable(sizes, await measure(name, sizes, folder))}`);
  const spread = await measure('SQLite', MANY_PROJECTS, folder);
  console.log(`
## Growth

Microseconds of one call (median), unless another unit is named. In brackets: the ratio to a tenth of the flags.

${sections.join('\n\n')}

### 10,000 flags in one project and in 1,000, on SQLite

${plainTable(['one project', '1,000 projects'], spread)}
`);
}

async function measure(
  name: PlaceName,
  populations: readonly Population[],
  folder: string,
): Promise<readonly Figures[]> {
  const measured: Figures[] = [];
  for (const population of populations) {
    console.error(`${name}: ${population.flags} flags, ${population.projects} projects`);
    const figures = await figuresOf(placeOf(name, folder), population);
    console.error([...figures].map(([what, figure]) => `  ${what}: ${shown(figure)}`).join('\n'));
    measured.push(figures);
  }
  return measured;
}

function growthTable(populations: readonly Population[], measured: readonly Figures[]): string {
  const header = populations.map(({ flags }) => `${flags.toLocaleString('en')} flags`);
  return tableOf(header, measured, (what, at) => {
    const [figure, before] = [measured[at]?.get(what) ?? 0, measured[at - 1]?.get(what)];
    return before === undefined ? shown(figure) : `${shown(figure)} (${(figure / before).toFixed(2)})`;
  });
}

function plainTable(header: readonly string[], measured: readonly Figures[]): string {
  return tableOf(header, measured, (what, at) => shown(measured[at]?.get(what) ?? 0));
}

function tableOf(
  header: readonly string[],
  measured: readonly Figures[],
  cell: (what: string, at: number) => string,
): string {
  const rows = [...(measured[0]?.keys() ?? [])].map((what) => [what, ...header.map((_, at) => cell(what, at))]);
  return table(['', ...header], rows);
}

function shown(figure: number): string {
  return figure.toLocaleString('en', { maximumSignificantDigits: 3 });
}

await inTemporaryFolder(main);
