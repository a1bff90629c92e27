// Compares the tours of docs/architecture.md with the files that run, and prints the differences. After a build:
//
//   npm run tours               checks the lists
//   npm run tours -- --print    prints the files that run, with their functions
//
// A file counts if one of its functions runs. V8 counts the calls of each function exactly. The lists of a request and of a
// step leave out the files of every change: each file that they have must run.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { Session } from 'node:inspector';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFlags } from '../packages/core/dist/index.js';
import { sqliteStorage } from '../packages/core/dist/sqlite.js';
import { createFlagsRouter } from '../packages/express/dist/index.js';

const express = createRequire(new URL('../packages/express/package.json', import.meta.url))('express');
const Database = createRequire(import.meta.url)('better-sqlite3');
const FEATURES = '/api/admin/projects/default/features';
const PRODUCTION = { project: 'default', flag: 'warm', environment: 'production' };

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Returns the files whose functions ran since the last call. The session is in this thread and synchronous. */
function takeFiles() {
  const files = new Map();
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error) throw error;
    for (const { url, functions } of result) {
      const [, path] = /\/(packages\/\w+\/dist\/.*)\.js$/.exec(url) ?? [];
      const names = functions.filter(({ ranges }) => ranges[0].count > 0).map(({ functionName }) => functionName);
      if (path && names.length > 0) files.set(`${path.replace('/dist/', '/src/')}.ts`, names.filter(Boolean));
    }
  });
  return files;
}

const directory = mkdtempSync(join(tmpdir(), 'flags-tours-'));
const database = new Database(join(directory, 'flags.db'));
let atCommit;
const exec = database.exec.bind(database);
database.exec = (sql) => {
  if (sql === 'COMMIT') atCommit ??= takeFiles();
  return exec(sql);
};
const storage = await sqliteStorage({ database });
const due = { run: 'elsewhere', authorize: () => true, guard: () => 'go' };
const flags = await openFlags({ storage, pollInterval: 0, usage: { interval: 0 }, due });
const server = createServer(express().use(createFlagsRouter(flags, { auth: 'token' })));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const { secret: admin } = await flags.tokens.create({ name: 'admin', kind: 'admin' });
const { secret: client } = await flags.tokens.create({ name: 'client', kind: 'client' });

async function send(method, path, { body, token = admin, status } = {}) {
  const headers = { authorization: token, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${server.address().port}${path}`;
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (response.status !== status) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return JSON.parse((await response.text()) || 'null');
}

const variants = (name) => ({
  body: [{ op: 'add', path: '/-', value: { name } }],
  status: 200,
});
const TOURS = {
  'Create a flag': () => send('POST', FEATURES, { body: { name: 'checkout' }, status: 201 }),
  'Evaluate a flag': async () => flags.isEnabled('warm', { userId: '7' }),
  'Change variants': () => send('PATCH', `${FEATURES}/warm/variants`, variants('b')),
  'Serve client features': () => send('GET', '/api/client/features', { token: client, status: 200 }),
};

// Schemas, statements and the interface of each actor are created at the first use.
await send('POST', FEATURES, { body: { name: 'warm' }, status: 201 });
const strategy = { name: 'flexibleRollout', parameters: { rollout: 50, groupId: 'warm', stickiness: 'default' } };
await flags.addStrategy(PRODUCTION, {
  ...strategy,
  constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }],
});
await flags.enable(PRODUCTION);
await send('PATCH', `${FEATURES}/warm/variants`, variants('a'));
await send('GET', '/api/client/features', { token: client, status: 200 });
await flags.updateFlag(PRODUCTION, { description: 'Changed, so that client features are generated again' });
// The first evaluation compiles the flag.
flags.isEnabled('warm');

const page = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8');
const sectionOf = (title) => page.split(/^### /m).find((part) => part.startsWith(title)) ?? '';
const filesIn = (text) => text.match(/packages\/\S+\.ts/g) ?? [];
const listIn = (section) => section.match(/^```\n[\s\S]*?^```/m)?.[0] ?? '';

for (const [title, run] of Object.entries(TOURS)) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  takeFiles();
  atCommit = undefined;
  await run();
  const files = atCommit ?? takeFiles();
  const list = listIn(sectionOf(title));
  const listed = filesIn(list);
  const differences = [
    ...[...files.keys()].filter((file) => !listed.includes(file)).map((file) => `  not listed: ${file}`),
    ...listed.filter((file) => !files.has(file)).map((file) => `  does not run: ${file}`),
  ];
  const [, fromRoute] = list.split(/^the route$/m);
  const counted = `${title}: ${files.size} files${fromRoute ? `, ${filesIn(fromRoute).length} of them from the route on` : ''}`;
  if (!page.includes(`\n### ${counted}\n`)) differences.push(`  the title is not: ### ${counted}`);
  console.log(counted);
  if (process.argv.includes('--print')) for (const [file, names] of files) console.log(`  ${file}: ${names.join(' ')}`);
  else if (differences.length > 0) {
    console.log(differences.join('\n'));
    process.exitCode = 1;
  }
}
/** What runs for the lists of the section, in their order. */
const WAYS = [
  async () => {
    const { environments } = await flags.getFlag(PRODUCTION);
    const { strategies } = environments.find(({ name }) => name === 'production');
    const ref = { ...PRODUCTION, strategy: strategies[0].id };
    const changes = [{ op: 'startRollout', ref, input: { steps: [{ percentage: 60, hold: 0 }, { percentage: 100 }] } }];
    const { id, effect } = await send('POST', '/api/admin/change-requests', { body: { changes }, status: 201 });
    await flags.as('Grace').changeRequests.approve({ changeRequest: id }, { effect });
    await send('POST', `/api/admin/change-requests/${id}/apply`, { body: {}, status: 200 });
  },
  () => flags.runDue(),
];
await flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
const section = page.split(/^## /m).find((part) => part.startsWith('The way of a request')) ?? '';
const lists = section.match(/^```\n[\s\S]*?^```/gm) ?? [];
for (const [index, run] of WAYS.entries()) {
  takeFiles();
  await run();
  const files = takeFiles();
  const listed = filesIn(lists[index] ?? '');
  const idle = listed.filter((file) => !files.has(file));
  console.log(`${index === 0 ? 'A request' : 'A step'}: ${new Set(listed).size} files beside those of every change`);
  for (const file of idle) console.log(`  does not run: ${file}`);
  if (idle.length > 0 || listed.length === 0) process.exitCode = 1;
}
server.close();
server.closeAllConnections();
await flags.close();
database.close();
rmSync(directory, { recursive: true });
