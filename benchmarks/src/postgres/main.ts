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

PostgreSQL ${server.version}, which is on the same machine and flushes every commit (\`fsync\` and \`synchronous_commit\` on).

### Operations per second

Every node is a process with a pool of ten connections that does eight operations at once. In brackets, how many times that is
what the driver \`pg\` alone does in the same process: the same reads, then BEGIN, the statements one would write by hand, each
waited for, and COMMIT. The second number is what it would be if nodes neither heard of each other's changes nor looked for them.
The sides take turns of 64 changes, or 256 reads or reports, of each node, 25 times, and must have written the same number
of rows, revisions and characters; figures are medians, ratios those of neighbouring turns.

The engine also validates, tells the other nodes, and has every node read what any of them has changed, which the driver
does not: it is in the figures of changes. Of metrics it writes reports that arrive together in one statement, the driver
each in a transaction.

${await throughputTable(server.url())}

### Until every other node evaluates a change

Four nodes; milliseconds from the beginning of the call that makes the change, which is acknowledged on the way.

${await convergenceTable(server.url())}

### Growth

Microseconds of one call (the median) where no other unit is named; calls one after the other.

${await growthTable(server.url())}
`);
} finally {
  await server.close();
}
