import { createFlags } from '@flags/core';
import { postgresStorage } from '@flags/postgres';
import { Client } from 'pg';
import { type Figures, figuresOf } from '../growth/figures.js';
import type { Place } from '../growth/place.js';
import { type Population, placeAt, populate } from '../growth/population.js';
import { table } from '../markdown.js';

const SIZES = [100, 1_000, 10_000, 100_000];

/** What operations cost among few flags and among many. */
export async function growthTable(url: string): Promise<string> {
  const measured: Figures[] = [];
  for (const flags of SIZES) {
    const figures = await figuresOf(placeOf(url, `grown_${flags}`), { flags, projects: 1 });
    console.error(`${flags} flags`, Object.fromEntries(figures));
    measured.push(figures);
  }
  // The table of growth has it: what is in memory is the same on every storage.
  const names = [...(measured[0]?.keys() ?? [])].filter((what) => !what.startsWith('heap'));
  const rows = names.map((what) => [
    what,
    ...measured.map((figures) => (figures.get(what) ?? 0).toLocaleString('en', { maximumSignificantDigits: 3 })),
  ]);
  return table(['', ...SIZES.map((flags) => `${flags.toLocaleString('en')} flags`)], rows);
}

function placeOf(url: string, schema: string): Place {
  const open = () => createFlags({ storage: postgresStorage({ connectionString: url, schema }) });
  return { open, size: () => undefined, fill: (population) => fill({ open, url, schema, population }) };
}

/** The engine makes the first flag, the database the others like it. */
async function fill(options: {
  readonly open: Place['open'];
  readonly url: string;
  readonly schema: string;
  readonly population: Population;
}): Promise<void> {
  const { open, url, schema, population } = options;
  const flags = await open();
  await populate(flags, { flags: 1, projects: 1 });
  await flags.close();
  const names = Array.from({ length: population.flags - 1 }, (_, at) => placeAt(at + 1, 1).flag);
  const first = placeAt(0, 1).flag;
  const client = new Client(url);
  await client.connect();
  await client.query(
    `INSERT INTO ${schema}.flags_documents (kind, id, parent, revision, summary, body)
    SELECT kind, name, parent, revision, summary, replace(body, $1, name)
    FROM ${schema}.flags_documents, unnest($2::text[]) AS name WHERE kind = 'flag' AND id = $1`,
    [first, names],
  );
  await client.query('VACUUM ANALYZE');
  await client.end();
}
