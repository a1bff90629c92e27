import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freshDatabase, startPostgres } from '@flags/test-postgres';
import { inTemporaryFolder } from '../temporary-folder.js';
import type { Installation } from './contender.js';
import { flagsServer, unleashServer } from './contenders.js';
import { installFlags, installUnleash } from './installation.js';
import { type Entry, type Measured, measure, measureMemory, REQUESTS_OF_EACH_KIND } from './measure.js';
import { costTable, latencyTable, processorTable, ratioTable, speedTable } from './tables.js';

const { values } = parseArgs({
  options: {
    /** Versions of unleash-server that run on this Node. */
    version: { type: 'string', multiple: true, default: ['4.19.5', '6.10.1'] },
    rounds: { type: 'string', default: '5' },
    /** Of a round. */
    seconds: { type: 'string', default: '1' },
  },
});
const pace = { rounds: Number(values.rounds), seconds: Number(values.seconds) };

/** As it is for a service: what was acknowledged survives a power failure. */
const DURABLE = { fsync: 'on', full_page_writes: 'on' };

console.log(report(await inTemporaryFolder(run)));

async function run(folder: string): Promise<Measured> {
  const postgres = await startPostgres({ settings: DURABLE });
  try {
    const database = async () => (await freshDatabase({ server: postgres.url() })).url;
    const ours = await installFlags(join(folder, 'flags'));
    const theirs: { readonly version: string; readonly installation: Installation }[] = [];
    for (const version of values.version) {
      theirs.push({ version, installation: await installUnleash(join(folder, version), version) });
    }
    const entries = async (file: string): Promise<readonly Entry[]> => [
      { contender: flagsServer(join(folder, file)), installation: ours },
      { contender: flagsServer(await database()), installation: ours },
      ...(await Promise.all(
        theirs.map(async ({ version, installation }) => {
          return { contender: unleashServer(version, installation, await database()), installation };
        }),
      )),
    ];
    const memories = await measureMemory(await entries('memory.db'));
    return { ...(await measure(await entries('flags.db'), pace)), memories };
  } finally {
    await postgres.close();
  }
}

function report(measured: Measured): string {
  return `## Servers, beside Unleash

The reference server of this repository beside Unleash's servers, as npm installs them (${values.version.map((version) => `unleash-server ${version}`).join(', ')}).
Each is a process with \`NODE_ENV=production\`. PostgreSQL runs on the same machine, is reached through a socket, and flushes every commit,
as the reference server does on SQLite. The same requests to the admin API create the same flags on all. Before a request is measured,
its outcome must be the same on all. autocannon sends requests over ten connections, to one server at a time, in ${pace.rounds} rounds of
${pace.seconds} s each. Figures are medians; ratios compare neighbouring rounds.

${speedTable(measured)}

${ratioTable(measured)}

${latencyTable(measured)}

${processorTable(measured)}

The last table counts the server's process only; PostgreSQL's processor time comes in addition. The servers differ:

- Unleash is a product with users, roles, sessions and a user interface. Its responses have some more members.
- Unleash caches responses to SDKs for 600 ms. 4.19 computes the \`ETag\` from the body for every request; 6 knows it before it makes the
  body. This library makes both once per change, and sends a change at once.
- For a report of metrics, 4.19 stores the counters before it answers, as this library does. 6 stores them some seconds later.
- Unleash may use ten database connections here; its default is four. Its other limits (reports per minute, flags, strategies per flag)
  are set too high to matter, and its check for updates is off.
- The reference server logs every request, here to \`/dev/null\`. Unleash logs errors.
- Above several thousand requests per second, autocannon is part of the limit.

### What it takes

${costTable(measured)}

Production installs by npm: Unleash with its user interface, the reference server with both database drivers and its logger.
PostgreSQL's own size and memory come in addition. A start ends with the first successful response. The first start creates the tables in
an empty database. Later starts are medians of three, until \`GET /api/client/features\` succeeds. The live heap is what a collection of
all garbage leaves. Of the rest, about 45 MB are the Node program, and most is garbage that V8 has not collected yet. The reference server
asks V8 to collect when the heap has grown by half (\`--heap-growing-percent=50\`). By default V8 lets it grow to several times its size.

For the same load, each server has a database of its own, creates 1,000 flags, and answers ${REQUESTS_OF_EACH_KIND.toLocaleString('en')} requests of each kind.
In the comparison, a faster server answers more requests, and so has more flags, strategies and events at its end.
`;
}
