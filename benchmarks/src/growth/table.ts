import { table } from '../markdown.js';
import { type Figures, figuresOf, type OpenPlace } from './figures.js';

const SIZES = [100, 1_000, 10_000, 100_000];

/**
 * The cost of operations among few flags and among many, with the ratio to a tenth of the flags.
 *
 * @param largest the largest number of flags
 */
export async function growthTable(openPlace: OpenPlace, largest: number): Promise<string> {
  const sizes = SIZES.filter((size) => size <= largest);
  const measured: Figures[] = [];
  for (const flags of sizes) {
    console.error(`${flags} flags`);
    measured.push(await figuresOf(openPlace(flags), { flags, projects: 1 }));
  }
  const header = sizes.map((flags) => `${flags.toLocaleString('en')} flags`);
  return figuresTable(header, measured, (figure, before) =>
    before === undefined ? shown(figure) : `${shown(figure)} (${(figure / before).toFixed(2)})`,
  );
}

/** A row for each figure, a column for each population. */
export function figuresTable(
  header: readonly string[],
  measured: readonly Figures[],
  cell: (figure: number, before: number | undefined) => string = shown,
): string {
  const names = [...(measured[0]?.keys() ?? [])];
  const rows = names.map((what) => [
    what,
    ...measured.map((figures, at) => cell(figures.get(what) ?? 0, measured[at - 1]?.get(what))),
  ]);
  return table(['', ...header], rows);
}

function shown(figure: number): string {
  return figure.toLocaleString('en', { maximumSignificantDigits: 3 });
}
