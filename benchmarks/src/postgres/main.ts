import { startPostgres } from '@flags/test-postgres';
import { convergenceTable } from './convergence.js';
import { growthTable } from './growth.js';
import { throughputTable } from './throughput.js';

/** What keeps all that was acknowledged when the power fails; these are PostgreSQL's defaults. */
const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };

/** Prints what nodes on one PostgreSQL can do, how soon they agree, and what many flags cost. */
const server = await startPostgres({ settings: DURABLE });
try {
  console.log(`
## Nodes on one PostgreSQL

PostgreSQL ${server.version} runs on the same machine and flushes every commit (\`fsync\` and \`synchronous_commit\` are on).

### Operations per second

Each node is a process with a pool of ten connections that runs eight operations at once. The first number in brackets is the ratio to
the driver \`pg\` alone in the same process: the same reads, \`BEGIN\`, hand-written statements one after the other, and \`COMMIT\`. The second
number is the ratio without following: nodes neither listen nor poll. The sides alternate 25 times, with 64 changes, or 256 reads or
reports, per node. Afterwards all sides must hold the same number of rows, revisions and characters. Figures are medians; ratios
compare neighbouring rounds.

For a change the engine also validates, notifies the other nodes, and lets every node read the change. The driver does none of that. The
engine writes reports of metrics that arrive together in one statement; the driver writes each in a transaction.

${await throughputTable(server.url())}

### Until every other node evaluates a change

Four nodes. Milliseconds from the start of the call that makes the change until another node evaluates it.

${await convergenceTable(server.url())}

### Growth

Microseconds of one call (median), unless another unit is named. Calls run one after the other.

${await growthTable(server.url())}
`);
} finally {
  await server.close();
}
