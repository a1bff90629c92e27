// The files that calls run through, from V8's counts of calls, and what each is there for, from its first docstring.
//
// A file counts if one of its functions runs in each of several calls. The clock stands meanwhile, because work that takes long
// on a busy machine would run others.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { Session } from 'node:inspector';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { code, phrase, table } from './markdown.mjs';
import { docstringOf, firstSentence, load, parse } from './source.mjs';

const CALLS = 3;
const FEATURES = '/api/admin/projects/default/features';
const PRODUCTION = { project: 'default', environment: 'production' };

/** The order of the folders: from the request to the disk. */
const PLACES = [
  'express/src/',
  'http/src/adapters/',
  'http/src/messages/',
  'http/src/api/',
  'http/src/auth/',
  'http/src/actions',
  'http/src/features/',
  'http/src/changes/',
  'http/src/client/',
  'http/src/',
  'core/src/flags',
  'core/src/router',
  'core/src/features',
  'core/src/kernel/',
  'core/src/words/',
  'core/src/evaluation/',
  'core/src/storage/',
  'core/src/base/',
  'core/src/',
].map((place) => `packages/${place}`);

/** What runs before the route is asked: the request, its row and its caller. */
const BEFORE_ROUTE =
  /^packages\/(express\/|http\/src\/(adapters\/|auth\/|messages\/request|api\/(create-api|permission)|actions)|core\/src\/features\/tokens\/token-verification)/;

export async function tours() {
  const engine = await startEngine();
  const sections = [];
  for (const { title, meaning, isRequest, run, prepare } of toursOf(engine)) {
    const recorded = await engine.record({ run, prepare });
    sections.push(sectionOf({ title, meaning, isRequest, ...recorded }));
  }
  await engine.stop();
  return `# Tours

The files of which a function runs in a call, on SQLite with an API token, and those functions. What a file is there for is the
first sentence of its comment or docstring. Read a tour to know where to look, and to see what a change costs.

Before a change is answered, the documents in memory follow its commit, so that this node evaluates by it. The files of that and of the
reply are in a second table, unless they are in the first.

${sections.join('\n')}`;
}

function sectionOf({ title, meaning, isRequest, files, later }) {
  const fromRoute = [...files.keys()].filter((path) => !BEFORE_ROUTE.test(path)).length;
  const count = `${files.size} files${isRequest ? `, ${fromRoute} of them from the route on` : ''}`;
  const section = `## ${title}\n\n${count}: ${meaning}\n\n${tableOf(files)}`;
  if (later === undefined) return section;
  const reply = isRequest ? ', and the reply is written' : '';
  return `${section}\n### After its ${code('COMMIT')}\n\n${later.size} further files: the documents in memory follow${reply}.\n\n${tableOf(later)}`;
}

function tableOf(files) {
  const paths = [...files.keys()].sort((one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1));
  const rows = paths.map((path) => [code(path), purposeOf(path, files.get(path)), namesIn(path, files.get(path))]);
  return table(['File', 'What it is there for', 'What runs'], rows);
}

function placeOf(path) {
  return PLACES.findIndex((place) => path.startsWith(place));
}

/** The docstring of what the file is named after; its first block comment; or the docstring of a function, best one that runs. */
function purposeOf(path, ran) {
  const source = parse(path);
  const [, header] = /^\/\*\n((?: \*.*\n)+?) \*\/$/m.exec(source.text) ?? /^((?:\/\/.*\n)+)/.exec(source.text) ?? [];
  const documented = declarationsIn(source).filter(({ text }) => text !== '');
  const main = path
    .replace(/.*\/([^./]+)[^/]*$/, '$1')
    .replaceAll('-', '')
    .toLowerCase();
  const text =
    documented.find(({ name }) => name.toLowerCase() === main)?.text ??
    header?.replaceAll(/^(?: \*|\/\/) ?/gm, '') ??
    documented.toSorted((one, other) => rankOf(one, ran) - rankOf(other, ran))[0]?.text;
  return phrase(firstSentence(text ?? ''));
}

function rankOf({ name, isExported, isCode }, ran) {
  return (isExported && isCode ? 0 : 2) + (ran.has(name) ? 0 : 1);
}

/** The functions, classes, constants and types at the top of a file, with their docstrings. */
function declarationsIn(source) {
  return source.statements.flatMap((statement) => {
    const isExported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
    const isCode = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement);
    const found = ts.isVariableStatement(statement) ? [...statement.declarationList.declarations] : [statement];
    return found
      .filter(({ name }) => name !== undefined && ts.isIdentifier(name))
      .map((one) => ({ name: one.name.text, text: docstringOf(one), isExported, isCode }));
  });
}

/** The names that run, in the order of the source: those at its top, or else those inside. */
function namesIn(path, ran) {
  const source = parse(path);
  const top = declarationsIn(source).map(({ name }) => name);
  const inside = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.name && ts.isIdentifier(node.name)) inside.push(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  // Compiled schemas have numbers, which every new schema shifts.
  const names = [...new Set([...top, ...inside])].filter((name) => ran.has(name) && !/^check\d+$/.test(name));
  const shown = names.slice(0, 4).map(code).join(', ');
  return names.length > 4 ? `${shown} and ${names.length - 4} more` : shown;
}

/** An engine on SQLite behind a router, with a recorder of what runs. */
async function startEngine() {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const { openFlags } = await load('packages/core/src/index.ts');
  const { sqliteStorage } = await load('packages/core/src/sqlite.ts');
  const { createFlagsRouter } = await load('packages/express/src/index.ts');
  const require = createRequire(import.meta.url);
  const express = createRequire(new URL('../../packages/express/package.json', import.meta.url))('express');
  const Database = require('better-sqlite3');

  const directory = mkdtempSync(join(tmpdir(), 'flags-tours-'));
  const database = new Database(join(directory, 'flags.db'));
  let atCommit;
  const exec = database.exec.bind(database);
  database.exec = (sql) => {
    if (sql === 'COMMIT') atCommit ??= takeFiles();
    return exec(sql);
  };
  const due = { run: 'elsewhere', authorize: () => true, guard: () => 'go' };
  const storage = await sqliteStorage({ database });
  const flags = await openFlags({ storage, pollInterval: 0, usage: { interval: 0 }, due });
  const server = createServer(express().use(createFlagsRouter(flags, { auth: 'token' })));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { secret: admin } = await flags.tokens.create({ name: 'admin', kind: 'admin' });
  const { secret: client } = await flags.tokens.create({ name: 'client', kind: 'client' });

  /** Returns the files whose functions ran since the last call. The session is in this thread and synchronous. */
  function takeFiles() {
    const files = new Map();
    session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error) throw error;
      for (const { url, functions } of result) {
        const [, path] = /\/(packages\/\w+\/dist\/.*)\.js$/.exec(url) ?? [];
        const names = functions
          .filter(({ ranges }) => ranges[0].count > 0)
          .map(({ functionName }) => functionName.replace(/.*\./, ''));
        if (path && names.length > 0) files.set(`${path.replace('/dist/', '/src/')}.ts`, new Set(names));
      }
    });
    return files;
  }

  return {
    flags,
    /**
     * Records calls up to their first commit, or whole without one, and the further files after it. The first call is not
     * counted: it compiles and prepares.
     */
    async record({ run, prepare = () => undefined }) {
      let [common, commonLater] = [];
      for (let call = 0; call <= CALLS; call++) {
        const given = await prepare(call);
        await new Promise((resolve) => setTimeout(resolve, 50));
        takeFiles();
        atCommit = undefined;
        const restart = stopClock();
        await run(call, given);
        restart();
        const files = takeFiles();
        if (call === 0) continue;
        const ran = atCommit ?? files;
        common = common === undefined ? ran : intersectionOf(common, ran);
        if (atCommit) commonLater = commonLater === undefined ? files : intersectionOf(commonLater, files);
      }
      const later = commonLater && new Map([...commonLater].filter(([path]) => !common.has(path)));
      return { files: common, later };
    },
    async send(method, path, { body, token = 'admin', status = 200 } = {}) {
      const headers = { authorization: token === 'admin' ? admin : client, 'content-type': 'application/json' };
      const url = `http://127.0.0.1:${server.address().port}${path}`;
      const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      const text = await response.text();
      if (response.status !== status) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return JSON.parse(text || 'null');
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await flags.close();
      database.close();
      session.disconnect();
      rmSync(directory, { recursive: true });
    },
  };
}

// Time slices take the clock of the process when they are loaded: later than this file.
const { hrtime } = process;
let stoppedAt;
process.hrtime = Object.assign((...given) => stoppedAt ?? hrtime(...given), { bigint: hrtime.bigint });

/** Stops the clock of time slices. Returns a function that starts it. */
function stopClock() {
  stoppedAt = hrtime();
  return () => {
    stoppedAt = undefined;
  };
}

function intersectionOf(one, other) {
  const both = [...one].filter(([path]) => other.has(path));
  return new Map(both.map(([path, names]) => [path, new Set([...names].filter((name) => other.get(path).has(name)))]));
}

/** The calls. `run` gets the number of the call, and what `prepare` has made for it. */
function toursOf({ flags, send }) {
  const rolling = { name: 'flexibleRollout', parameters: { rollout: 50, groupId: 'a', stickiness: 'default' } };
  const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7'] }];

  async function createOn(name) {
    const ref = { ...PRODUCTION, flag: name };
    await flags.createFlag(ref, { name });
    const { id } = await flags.addStrategy(ref, { ...rolling, constraints });
    await flags.enable(ref);
    return { ...ref, strategy: id };
  }

  /** Flags for rollouts: none can be switched on once production needs approval. */
  const refs = [];
  async function protectProduction() {
    for (let at = 0; at < 2 * (CALLS + 1); at++) refs.push(await createOn(`rolling-${at}`));
    await flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
  }

  /** Requests a rollout whose second step is due at once. Another person approves it. */
  async function requestRollout() {
    const input = { steps: [{ percentage: 60, hold: 0 }, { percentage: 100 }] };
    const body = { changes: [{ op: 'startRollout', ref: refs.pop(), input }] };
    const { id, effect } = await send('POST', '/api/admin/change-requests', { body, status: 201 });
    await flags.as('Grace').changeRequests.approve({ changeRequest: id }, { effect });
    return id;
  }

  return [
    {
      title: 'Create a flag',
      meaning: `${code(`POST ${FEATURES}`)}, up to the ${code('COMMIT')}.`,
      isRequest: true,
      run: (call) => send('POST', FEATURES, { body: { name: `new-${call}` }, status: 201 }),
    },
    {
      title: 'Evaluate a flag',
      meaning: `${code("flags.isEnabled('checkout', { userId: '7' })")}, of a flag with a constraint and a gradual rollout.`,
      prepare: (call) => (call === 0 ? createOn('evaluated') : undefined),
      run: async () => flags.isEnabled('evaluated', { userId: '7' }),
    },
    {
      title: 'Change variants',
      meaning: `${code(`PATCH ${FEATURES}/checkout/variants`)}, up to the ${code('COMMIT')}.`,
      isRequest: true,
      prepare: (call) => (call === 0 ? createOn('varied') : undefined),
      run: (call) =>
        send('PATCH', `${FEATURES}/varied/variants`, {
          body: [{ op: 'add', path: '/-', value: { name: `v${call}` } }],
        }),
    },
    {
      title: 'Serve client features',
      meaning: `${code('GET /api/client/features')} after a change. While nothing has changed, the response comes from the cache, or is a 304.`,
      isRequest: true,
      prepare: (call) => flags.updateFlag({ ...PRODUCTION, flag: 'varied' }, { description: `Changed ${call}` }),
      run: () => send('GET', '/api/client/features', { token: 'client' }),
    },
    {
      title: 'Apply an approved request',
      meaning: `${code('POST /api/admin/change-requests/:id/apply')}, of a rollout that another person has approved, up to the ${code('COMMIT')}.`,
      isRequest: true,
      async prepare(call) {
        if (call === 0) await protectProduction();
        return requestRollout();
      },
      run: (_call, id) => send('POST', `/api/admin/change-requests/${id}/apply`, { body: {} }),
    },
    {
      title: 'Take a step of a rollout',
      meaning: `${code('flags.runDue()')}, of one rollout whose step is due, up to the ${code('COMMIT')}.`,
      async prepare() {
        const id = await requestRollout();
        await send('POST', `/api/admin/change-requests/${id}/apply`, { body: {} });
      },
      run: () => flags.runDue(),
    },
  ];
}
