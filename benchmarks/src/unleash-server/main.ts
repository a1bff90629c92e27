import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freshDatabase, startPostgres } from '@flags/test-postgres';
import { inTemporaryFolder } from '../temporary-folder.js';
import { flagsServer, unleashServer } from './contenders.js';
import { installFlags, installUnleash } from './installation.js';
import { type Entry, type Measured, measure } from './measure.js';
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
    const installation = await installFlags(join(folder, 'flags'));
    const entries: Entry[] = [
      { contender: flagsServer(join(folder, 'flags.db')), installation },
      { contender: flagsServer(await database()), installation },
    ];
    for (const version of values.version) {
      const installation = await installUnleash(join(folder, version), version);
      entries.push({ contender: unleashServer(version, installation, await database()), installation });
    }
    return await measure(entries, pace);
  } finally {
    await postgres.close();
  }
}

function report(measured: Measured): string {
  return `## Beside the servers of this API family

The reference server of this repository beside Unleash's, as npm installs them (${values.version.map((version) => `unleash-server ${version}`).join(', ')}).
Each is a process with \`NODE_ENV=production\`. PostgreSQL runs on the same machine, is reached by a socket, and flushes every
commit to disk, as the reference server does on SQLite. All hold the same flags, which the same requests to the admin API have
made, and show the same outcome of each kind of request before it is measured. autocannon sends over ten connections, to each
server in turns of ${pace.seconds} s, ${pace.rounds} times; figures are medians, ratios those of neighbouring rounds.

${speedTable(measured)}

${ratioTable(measured)}

${latencyTable(measured)}

${processorTable(measured)}

The last table is of the server's process: what PostgreSQL uses comes in addition. The servers do not do quite
the same:

- Unleash is a product with users, roles, sessions and a user interface; its answers have some members more.
- Unleash keeps for 600 ms what it sends to SDKs. 4.19 makes the \`ETag\` from the body, for every request; 6 has it before the
  body. Here both are made once per change, and a change is sent at once.
- On a report of metrics 4.19 stores the counters before it answers, as is done here; 6 stores them some seconds later.
- Unleash may use ten connections to its database here, where its default is four. What else bounds it (reports a minute, flags,
  strategies of a flag) is set too high to matter, and it asks nobody for news.
- The reference server logs every request, here to nowhere; Unleash logs errors.
- Where several thousand requests a second are answered, autocannon is a part of the limit.

### What it takes

${costTable(measured.costs)}

Production installs by npm: of Unleash, with its user interface; of the reference server, with the drivers of both databases and
its log. PostgreSQL's own size and memory come in addition wherever it is used. A start lasts until the first good answer: the
first one on an empty database, with its tables to be made; later ones, medians of three, to \`GET /api/client/features\`.
`;
}
