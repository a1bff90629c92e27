import { parseArgs } from 'node:util';
import { startPostgres } from '@flags/test-postgres';
import { DURABLE } from '../postgres/durable.js';
import { inTemporaryFolder } from '../temporary-folder.js';
import { callTable } from './calls.js';
import { routeTable } from './routes.js';

const TITLES: Readonly<Record<string, string>> = {
  memory: 'In memory',
  sqlite: 'On SQLite',
  postgres: 'On PostgreSQL',
};

const { values } = parseArgs({
  options: {
    /** The root of the other repository, such as a worktree of the last release, with its packages built. */
    before: { type: 'string' },
    storage: { type: 'string', multiple: true, default: ['memory', 'sqlite'] },
    /** Only operations and routes whose name contains this. */
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '9' },
    /** Of an operation in a round. */
    calls: { type: 'string', default: '1000' },
    /** Of a round over HTTP. */
    seconds: { type: 'string', default: '1' },
  },
});
const { before = process.env.BENCHMARK_BEFORE, only } = values;
if (!before) throw new Error('Name the other build: --before DIR, or BENCHMARK_BEFORE.');
const [rounds, calls, seconds] = [values.rounds, values.calls, values.seconds].map(Number) as [number, number, number];

console.log(`
# This build, beside another

Medians of ${rounds} alternating rounds; ratios compare neighbouring rounds. Calls run in one process, one after the other, on 1,000 flags. Over
HTTP, autocannon sends requests over ten connections, in rounds of ${seconds} s, to one server at a time. _Within_: reads, evaluation and opening
may cost at most a fifth more.
`);
for (const storage of values.storage) {
  console.log(`## ${TITLES[storage] ?? storage}\n`);
  await inTemporaryFolder((folder) => compareOn(storage, storage === 'sqlite' ? folder : undefined));
}

async function compareOn(storage: string, folder: string | undefined): Promise<void> {
  const server = storage === 'postgres' ? await startPostgres({ settings: DURABLE }) : undefined;
  const comparison = { before: before ?? '', folder, rounds, only };
  try {
    console.log(`${await callTable({ ...comparison, url: server?.url(), calls })}\n`);
  } finally {
    await server?.close();
  }
  if (!server) console.log(`${await routeTable({ ...comparison, seconds })}\n`);
}
