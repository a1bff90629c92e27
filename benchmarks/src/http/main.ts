import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type ComparedBuilds, compareBuilds } from './builds.js';
import { compare, type Pace } from './compare.js';
import type { Tokens } from './flags-server.js';
import { SCENARIOS, type Scenario } from './scenarios.js';
import { startServer } from './server-process.js';
import { buildRow, buildTable, limitRow, limitTable, type Measured, writingTable } from './table.js';

const { values } = parseArgs({
  options: {
    /** Only routes whose name contains this. */
    only: { type: 'string', default: '' },
    /** The root of another repository: compares with its build instead of bare Express, and prints only that. */
    before: { type: 'string', default: '' },
    storage: { type: 'string', multiple: true, default: ['memory', 'sqlite'] },
    rounds: { type: 'string', default: '5' },
    /** Of a round. */
    seconds: { type: 'string', default: '1' },
  },
});
const pace: Pace = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
const scenarios = SCENARIOS.filter(({ name }) => name.includes(values.only));

if (values.before === '') introduce();
for (const storage of values.storage) await (values.before === '' ? reportOn(storage) : reportBuilds(storage));

function introduce(): void {
  console.log(`## HTTP, beside bare Express

Each route beside a bare Express handler that sends the same bytes, status, \`content-type\` and \`ETag\`, and for writes parses the same
body with \`express.json\`. The library also verifies an API token. Each side runs in its own process. autocannon sends requests over ten
connections, to one side at a time, in ${pace.rounds} rounds of ${pace.seconds} s each. Figures are medians; ratios compare neighbouring rounds.
_Processor time_ is the server's time per request, as a multiple of the bare handler's.
`);
}

async function reportOn(storage: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'flags-http-'));
  const measured: Measured[] = [];
  try {
    for (const [number, scenario] of scenarios.entries()) {
      const file = storage === 'sqlite' ? join(directory, `${number}.db`) : undefined;
      const one = await measure(scenario, file, directory);
      console.error(storage, ...limitRow(one));
      measured.push(one);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
  console.log(`### ${titleOf(storage)}\n\n${limitTable(measured)}\n`);
  const writing = writingTable(measured);
  if (writing === '') return;
  console.log(`Beside a bare handler that also writes the same rows with better-sqlite3, in one transaction and one flush per request. The last column
compares that handler with one that writes nothing:

${writing}
`);
}

async function reportBuilds(storage: string): Promise<void> {
  const directory = storage === 'sqlite' ? await mkdtemp(join(tmpdir(), 'flags-http-')) : undefined;
  const compared: ComparedBuilds[] = [];
  try {
    for (const scenario of scenarios) {
      const one = await compareBuilds({ scenario, before: values.before, directory, pace });
      console.error(storage, ...buildRow(one));
      compared.push(one);
    }
  } finally {
    if (directory) await rm(directory, { recursive: true });
  }
  console.log(`### ${titleOf(storage)}, beside the other build\n\n${buildTable(compared)}\n`);
}

function titleOf(storage: string): string {
  return storage === 'sqlite' ? 'On SQLite' : 'In memory';
}

/** Every route meets a server that has served nothing else. */
async function measure(scenario: Scenario, file: string | undefined, directory: string): Promise<Measured> {
  const { content } = scenario;
  const server = await startServer<Tokens>('flags-server.js', { content, ...(file && { file }) });
  try {
    return { scenario, ...(await compare({ scenario, server, file, directory, pace })) };
  } finally {
    await server.stop();
  }
}
