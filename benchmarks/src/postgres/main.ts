import { openFlags } from '@flags/core';
import { postgresStorage } from '@flags/postgres';
import { startPostgres } from '@flags/test-postgres';
import { growthTable } from '../growth/table.js';
import { convergenceTable } from './convergence.js';
import { DURABLE } from './durable.js';
import { throughputTable } from './throughput.js';

/** Prints the throughput of nodes on one PostgreSQL, the time until they agree, and the cost of many flags. */
const server = await startPostgres({ settings: DURABLE });
const openPlace = (number: number) => ({
  open: () => openFlags({ storage: postgresStorage({ connectionString: server.url(), schema: `grown_${number}` }) }),
  size: () => undefined,
});
try {
  console.log(`
# Nodes on one PostgreSQL

PostgreSQL ${server.version} runs on the same machine and flushes every commit (\`fsync\` and \`synchronous_commit\` are on).

## Operations per second

Each node is a process with a pool of ten connections that runs eight operations at once, on flags of its own. Figures are medians of 25
rounds. For a change, the engine also notifies the other nodes, and every node reads it.

${await throughputTable(server.url())}

## Until every other node evaluates a change

Four nodes. The table gives the milliseconds between the call of the changing method and the first evaluation of the change on another node.

${await convergenceTable(server.url())}

## Growth

Microseconds of one call (median), unless another unit is named. In brackets: the ratio to a tenth of the flags. Calls run one after the other.

${await growthTable(openPlace, Number(process.argv[2] ?? Number.POSITIVE_INFINITY))}
`);
} finally {
  await server.close();
}
