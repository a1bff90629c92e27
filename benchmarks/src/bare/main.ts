import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { THIS_BUILD } from '../builds/build.js';
import { exchange } from '../builds/exchange.js';
import type { Tokens } from '../builds/flags-server.js';
import { load, type Round } from '../builds/load.js';
import { requestsOf, type Scenario } from '../builds/scenarios.js';
import { startServer } from '../builds/server-process.js';
import { table } from '../markdown.js';
import { median } from '../median.js';
import { inTemporaryFolder } from '../temporary-folder.js';
import { COMPARED } from './scenarios.js';

const { values } = parseArgs({
  options: {
    /** Only routes whose name contains this. */
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '7' },
    /** Of a round. */
    seconds: { type: 'string', default: '1' },
    /** Changes of several connections share a flush. */
    connections: { type: 'string', default: '10' },
  },
});
const [rounds, seconds, connections] = [values.rounds, values.seconds, values.connections].map(Number) as [
  number,
  number,
  number,
];

console.log(`
# The router, beside a bare Express handler

On SQLite, connections: ${connections}; medians of ${rounds} alternating rounds of ${seconds} s. For reads, the bare handler sends the same bytes. For changes, it
parses the body with \`express.json\`, and makes the same writes with better-sqlite3, in one flushed transaction per request. It verifies no token.
`);
const rows: (readonly string[])[] = [];
for (const scenario of COMPARED.filter(({ name }) => name.includes(values.only))) {
  const row = await inTemporaryFolder((folder) => rowOf(scenario, folder));
  console.error(...row);
  rows.push(row);
}
console.log(table(['route', 'requests/s', 'bare', 'ratio', 'processor time, µs', 'bare', 'ratio'], rows));

/** Sends the same requests to both, in turn. */
async function rowOf(scenario: Scenario, folder: string): Promise<readonly string[]> {
  const { name, content } = scenario;
  const servers = [
    await startServer<Tokens>('flags-server.js', { repository: THIS_BUILD, content, file: join(folder, 'flags.db') }),
    await startServer<Tokens>('../bare/bare-server.js', { name, file: join(folder, 'bare.db') }),
  ];
  try {
    const sides = [];
    for (const server of servers) {
      const next = requestsOf(scenario, server.details[scenario.token]);
      const { status } = await exchange(server.origin, next());
      sides.push({ server, next, status, rounds: [] as Round[] });
    }
    for (let number = 0; number <= rounds; number++) {
      for (const side of number % 2 === 0 ? sides : sides.toReversed()) {
        const round = await load({ ...side, seconds, connections });
        // The first round warms up.
        if (number > 0) side.rounds.push(round);
      }
    }
    const [ours = [], bare = []] = sides.map((side) => side.rounds);
    return [
      name,
      ...cells(ours, bare, ({ requestsPerSecond }) => requestsPerSecond),
      ...cells(ours, bare, ({ processorTime }) => processorTime),
    ];
  } finally {
    for (const server of servers) await server.stop();
  }
}

function cells(ours: readonly Round[], bare: readonly Round[], figure: (round: Round) => number): readonly string[] {
  const ratio = median(ours.map((round, number) => figure(round) / figure(bare[number] as Round)));
  const medians = [ours, bare].map((all) => Math.round(median(all.map(figure))).toLocaleString('en'));
  return [...medians, ratio.toFixed(2)];
}
