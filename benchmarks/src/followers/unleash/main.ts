import { parseArgs } from 'node:util';
import { freshDatabase, startPostgres } from '@flags/test-postgres';
import { type Finding, figure, none, publish } from '../verdict.js';
import { compareAnswers } from './answers.js';
import { checkConnection } from './connection.js';
import { installRelease, type Programs, RELEASES, type Release } from './releases.js';
import { readSpecifications } from './specification.js';
import { ENVIRONMENT, writeSpecifiedFlags } from './specified-flags.js';
import { startUnleash } from './unleash-process.js';

const { values: given } = parseArgs({
  options: {
    /** Only this version of unleash-server. */
    version: { type: 'string' },
    /** Skips a release that cannot be installed, instead of failing. */
    optional: { type: 'boolean', default: false },
  },
});

/** Returns undefined if a release cannot be installed. */
function programsOf(release: Release): Programs | undefined {
  try {
    return installRelease(release);
  } catch (error) {
    console.error(`SKIPPED: unleash-server ${release.version} cannot be installed. ${error}`);
    if (!given.optional) process.exitCode = 1;
    return undefined;
  }
}

async function check(programs: Programs, database: string): Promise<readonly Finding[]> {
  const server = await startUnleash(programs, database);
  try {
    const specifications = readSpecifications();
    const { requests, refused, impossible } = await writeSpecifiedFlags(server, database, specifications);
    // Unleash repeats earlier answers for up to a second after what was written to its tables.
    const connection = await checkConnection(server);
    const token = await server.createToken({ type: 'client', environment: ENVIRONMENT });
    const { cases, expected, differences } = await compareAnswers(server.url, token, specifications);
    const flags = specifications.reduce((sum, one) => sum + one.flags.length, 0);
    return [
      figure('flags of the client specification', `${flags}`),
      figure(
        'requests of the admin API that created them; refused, and written to its tables',
        `${requests}; ${refused}`,
      ),
      figure('parts that this release cannot store (strategy variants, parent flags)', `${impossible}`),
      figure('cases that unleash-client answers as specified', `${expected.client} of ${cases}`),
      figure('cases that the follower answers as specified', `${expected.follower} of ${cases}`),
      none(`different answers of unleash-client and the follower in ${cases} cases`, differences),
      ...connection,
    ];
  } finally {
    await server.close();
  }
}

const postgres = await startPostgres();
try {
  for (const release of RELEASES.filter(({ version }) => given.version === undefined || version === given.version)) {
    const programs = programsOf(release);
    const title = `Unleash ${release.version} as upstream`;
    if (programs === undefined) {
      console.log(`## ${title}\n\n**Skipped**: unleash-server could not be installed.\n`);
      continue;
    }
    const database = await freshDatabase({ server: postgres.url() });
    publish(title, [], await check(programs, database.url));
  }
} finally {
  await postgres.close();
}
