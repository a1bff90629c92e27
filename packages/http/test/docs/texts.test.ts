import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { json } from 'node:stream/consumers';
import {
  type Change,
  type Constraint,
  type CreatedToken,
  ERROR_CODES,
  type Flags,
  LIMITS,
  memoryStorage,
  openFlags,
  type VariantInput,
} from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { faultyStorage } from '@flags/core/testing';
import type { NewRollout } from '@flags/core/types';
import express from 'express';
import request from 'supertest';
import { until } from '../../../../test/until.js';
import { OPERATIONS, operationOf } from '../../../core/src/features.js';
import { createFlagsRouter } from '../../../express/src/index.js';
import { permissionOf } from '../../src/actions.js';
import type { Route } from '../../src/api/route.js';
import { patchFlag, patchStrategy } from '../../src/features/flags/patches.js';
import { ERROR_KINDS } from '../../src/messages/errors.js';
import { ROUTES } from '../../src/routes.js';
import { createHostApp } from '../host-app.js';
import { codeBlocks, codeIn, membersOf, read, tableAfter } from './documents.js';
import { runProgram } from './run-module.js';

describe('guides', () => {
  const codeOf = (path: string) => codeBlocks(read(path), 'js').join('\n');

  describe('the code of docs/moving-from-unleash.md', () => {
    it('evaluates in the process, and does not show the new page when the flag is off', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'flags-guide-'));
      const showNewCheckout = jest.fn();
      const code = codeOf('docs/moving-from-unleash.md').replace(
        "'./flags.db'",
        JSON.stringify(join(directory, 'flags.db')),
      );
      const flags = (await runProgram(code, { result: 'flags', scope: { showNewCheckout } })) as Flags;
      expect(showNewCheckout).not.toHaveBeenCalled();
      await flags.close();
      await rm(directory, { recursive: true });
    });
  });

  describe('the code of docs/more-services.md', () => {
    it('serves each kind of client by its token', async () => {
      const code = codeOf('docs/more-services.md').replace('listen(4242,', 'listen(0,');
      const result = '{ flags, server, backend, browsers }';
      const program = (await runProgram(code, { result, scope: {} })) as {
        readonly flags: Flags;
        readonly server: Server;
        readonly backend: CreatedToken;
        readonly browsers: CreatedToken;
      };
      await once(program.server, 'listening');
      const { port } = program.server.address() as AddressInfo;
      const statusOf = async (path: string, { secret }: CreatedToken) =>
        (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: secret } })).status;
      expect(await statusOf('/api/client/features', program.backend)).toBe(200);
      expect(await statusOf('/api/frontend', program.browsers)).toBe(200);
      expect(await statusOf('/api/client/features', program.browsers)).toBe(403);
      program.server.close();
      program.server.closeAllConnections();
      await program.flags.close();
    });
  });

  describe('the code of docs/operate.md', () => {
    const [health = '', backup = ''] = codeBlocks(read('docs/operate.md'), 'js');

    it('reports the health of the storage', async () => {
      const storage = faultyStorage(memoryStorage());
      const flags = await openFlags({ storage, onError: () => undefined });
      const app = express();
      await runProgram(health, { result: 'undefined', scope: { app, flags } });
      await request(app).get('/health').expect(200, { state: 'current' });
      storage.inject({ method: 'events' });
      await request(app).get('/health').expect(503, { state: 'stale' });
      storage.heal();
      await flags.close();
    });

    it('makes a backup that can be opened', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'flags-guide-'));
      const code = backup.replaceAll("'./", `'${directory}/`);
      const flags = (await runProgram(code, { result: 'flags', scope: {} })) as Flags;
      const restored = await openFlags({ storage: sqliteStorage(join(directory, 'flags-2026-01-01.backup')) });
      expect((await restored.listProjects()).items.map(({ id }) => id)).toEqual(['default']);
      await restored.close();
      await flags.close();
      await rm(directory, { recursive: true });
    });
  });

  describe('the code of docs/hear-of-changes.md', () => {
    it('tells Slack, a webhook, a file and a queue of a change, and moves and deletes a consumer', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'flags-guide-'));
      const received: { readonly path: string | undefined; readonly body: Readonly<Record<string, unknown>> }[] = [];
      const receiver = createServer(async (request, response) => {
        received.push({ path: request.url, body: (await json(request)) as Readonly<Record<string, unknown>> });
        response.end();
      });
      receiver.listen(0, '127.0.0.1');
      await once(receiver, 'listening');
      const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
      const published: Readonly<Record<string, unknown>>[] = [];
      const [queue, console] = [
        { publish: async (message: never) => void published.push(message) },
        { log: jest.fn(), info: jest.fn() },
      ];
      const env = { SLACK_URL: `${address}/slack`, WEBHOOK_SECRET: `whsec_${'a'.repeat(40)}` };
      const blocks = codeBlocks(read('docs/hear-of-changes.md'), 'js');
      const [change = ''] = blocks.splice(-1);
      const code = blocks
        .join('\n')
        .replaceAll("'./", `'${directory}/`)
        .replace("'https://example.org/hooks'", `'${address}/hooks'`);
      const scope = { process: { env }, queue, console };
      const flags = (await runProgram(code, { result: 'flags', scope })) as Flags;
      expect(console.log.mock.calls.map(([name]) => name)).toEqual(['approvers', 'audit', 'deploys', 'queue', 'slack']);
      await flags.createFlag({ project: 'default' }, { name: 'checkout' });
      const audited = () => readFileSync(join(directory, 'audit.jsonl'), 'utf8').trimEnd().split('\n');
      await until(() => received.length === 2 && published.length === 1 && audited().length === 2);
      const [hook, message] = received.toSorted((one, other) => `${one.path}`.localeCompare(`${other.path}`));
      expect(hook).toMatchObject({
        path: '/hooks',
        body: { type: 'feature-created', data: { featureName: 'checkout' } },
      });
      expect(message).toMatchObject({
        path: '/slack',
        body: { text: expect.stringContaining('|flag checkout>: created') },
      });
      expect(published).toMatchObject([{ type: 'flag-created', flag: 'checkout' }]);
      // An event that is not about a flag has no link, and does not stop the consumer.
      await flags.segments.create({ name: 'beta', constraints: [] });
      await flags.updateFlag({ project: 'default', flag: 'checkout' }, { description: 'New' });
      const told = () => received.filter(({ path }) => path === '/slack').map(({ body }) => body.text);
      await until(() => told().length === 3);
      expect(told()[1]).toBe('*system* changed:\n• segment beta: created');
      expect(flags.status().consumers).toEqual({ running: 5, failing: 0 });
      // The body of a webhook has an event in the form of the API.
      const app = express().use(createFlagsRouter(flags, { auth: 'none' }));
      const { body } = await request(app).get('/api/admin/events').set('host', 'localhost').expect(200);
      expect(body.events.at(-2)).toEqual(hook?.body.data);
      await runProgram(change, { result: 'undefined', scope: { flags } });
      expect((await flags.consumers.list()).items.map(({ name }) => name)).toEqual([
        'approvers',
        'audit',
        'queue',
        'slack',
      ]);
      const archive: Change = { op: 'archiveFlag', ref: { project: 'default', flag: 'checkout' } };
      const { id } = await flags.as('Ada').changeRequests.create([archive]);
      const asked = `<https://example.org/flags/ui/changes/${id}|Ada has prepared a change: checkout archived>`;
      await until(() => told().includes(asked));
      await flags.close();
      receiver.close();
      receiver.closeAllConnections();
      await rm(directory, { recursive: true });
    });
  });

  it('docs/nextjs.md has the code of examples/nextjs', () => {
    const sources = ['app/page.tsx', 'components/banner.tsx', 'lib/flags.ts'];
    const example = sources.map((path) => read(`examples/nextjs/${path}`));
    const guide = read('docs/nextjs.md');
    const blocks = ['ts', 'tsx'].flatMap((language) => codeBlocks(guide, language));
    expect(blocks).toHaveLength(4);
    expect(blocks.filter((block) => !example.some((source) => source.includes(block.trimEnd())))).toEqual([]);
  });

  describe('the faults in docs/testing.md', () => {
    it('has the outcomes that it describes', async () => {
      const result = '{ flags, outcomes }';
      const program = (await runProgram(codeOf('docs/testing.md'), { result, scope: {} })) as {
        readonly flags: Flags;
        readonly outcomes: readonly string[];
      };
      expect(program.outcomes).toEqual(['storage_unavailable', 'outcome_unknown', 'created']);
      expect((await program.flags.listFlags({ project: 'default' })).items.map(({ name }) => name)).toEqual([
        'checkout',
        'payments',
      ]);
      await program.flags.close();
    });
  });
});

describe('the documents', () => {
  const ROOT = join(__dirname, '../../../..');
  const markdownIn = (folder: string) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => posix.join(folder, name));
  const DOCUMENTS = [
    ...['.', 'docs', 'docs/adr', 'docs/reference', 'benchmarks', 'benchmarks/results', 'site'].flatMap(markdownIn),
    ...['packages', 'examples']
      .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}/README.md`))
      .filter((path) => existsSync(join(ROOT, path))),
  ];

  const withoutCode = (markdown: string) => markdown.replaceAll(/^(`{3,})[^\n]*\n.*?^\1$/gms, '');

  /** The relative targets of a document's links, inline and by reference. */
  function linksOf(path: string): string[] {
    const text = withoutCode(read(path));
    const inline = [...text.matchAll(/\]\(([^)\s]+)\)/g)];
    const references = [...text.matchAll(/^\[[^\]]+\]: (\S+)$/gm)];
    return [...inline, ...references].map(([, target]) => target ?? '').filter((target) => !/^\w+:/.test(target));
  }

  /** The anchors that GitHub gives to a document's headings. */
  function anchorsOf(path: string): string[] {
    return [...withoutCode(read(path)).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    );
  }

  function isBroken(from: string, link: string): boolean {
    const [target = '', anchor] = link.split('#');
    const path = target === '' ? from : posix.join(dirname(from), decodeURI(target));
    if (!existsSync(join(ROOT, path))) return true;
    return anchor !== undefined && path.endsWith('.md') && !anchorsOf(path).includes(anchor);
  }

  it.each(DOCUMENTS)('link to files and headings that exist: %s', (path) => {
    expect(linksOf(path).filter((link) => isBroken(path, link))).toEqual([]);
  });

  it('name files that exist in docs/architecture.md', () => {
    const named = read('docs/architecture.md').match(/packages\/[\w./-]+\.ts/g) ?? [];
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('have a README of at most 12 KB', () => {
    expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(12 * 1024);
  });

  it('have decisions of at most 40 lines, all in the index', () => {
    const index = read('docs/adr/README.md');
    for (const path of markdownIn('docs/adr').filter((path) => /\/\d{4}-/.test(path))) {
      expect([path, read(path).trimEnd().split('\n').length <= 40]).toEqual([path, true]);
      expect(index).toContain(`](${posix.basename(path)})`);
    }
  });

  it('have every guide in the index', () => {
    const index = read('docs/README.md');
    const guides = markdownIn('docs').filter((path) => !path.endsWith('/README.md'));
    expect(guides.filter((path) => !index.includes(`](${posix.basename(path)})`))).toEqual([]);
  });
});

/** The action that `authorize` is asked for. */
function shownAction(route: Route): string {
  const permission = permissionOf(route.action);
  return permission === undefined ? '–' : `\`${permission}\``;
}

describe('the reference tables in docs', () => {
  const options = read('docs/options.md');
  const endpoints = read('docs/endpoints.md');
  const errorCodes = read('docs/error-codes.md');
  const optionsAfter = (heading: string) => tableAfter(options, heading).map(([cell]) => codeIn(cell));

  it('have every endpoint, with its method, path, action and meaning', () => {
    const documented = tableAfter(endpoints, '# Endpoints').map(([method, path, action, meaning]) => [
      method,
      codeIn(path),
      action,
      meaning,
    ]);
    expect(documented).toEqual(ROUTES.map((route) => [route.method, route.path, shownAction(route), route.summary]));
  });

  it('have no endpoint that the guide for Unleash 4.x calls absent', () => {
    const [, rest = ''] = read('docs/reference/unleash-endpoints.md').split('## Endpoints that are not here');
    const [section = ''] = rest.split('\n## ');
    const absent = [...section.matchAll(/`((?:[A-Z]+ )+)(\/[\w/:-]+)`/g)].flatMap(([, methods = '', path = '']) =>
      methods
        .trimEnd()
        .split(' ')
        .map((method) => `${method} /api/admin${path}`),
    );
    const shapeOf = (endpoint: string) => endpoint.replaceAll(/:\w+/g, ':x');
    const present = new Set(ROUTES.map(({ method, path }) => shapeOf(`${method} ${path}`)));
    const INSTEAD = ['GET /api/admin/export', 'POST /api/admin/import'];
    expect(absent.length).toBeGreaterThan(60);
    expect(absent.filter((endpoint) => present.has(shapeOf(endpoint))).sort()).toEqual(INSTEAD);
  });

  it('have every operation that a change set may not contain', () => {
    const [, list = ''] = /not possible in a set:([^.]*)\./.exec(read('docs/safe-changes.md')) ?? [];
    const single = Object.keys(OPERATIONS).filter((name) => operationOf(name)?.isInSets === false);
    expect([...list.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(single.sort());
  });

  it('have every error code of the engine, with its status', () => {
    const documented = tableAfter(errorCodes, '## Codes of the engine').map(([code, status]) => [
      codeIn(code),
      Number(status),
    ]);
    expect(documented).toEqual(ERROR_CODES.map((code) => [code, ERROR_KINDS[code].status]));
  });

  it('have every error code of the HTTP API alone, with its status', () => {
    const documented = tableAfter(errorCodes, '## Codes of the HTTP API').map(([code, status]) => [
      codeIn(code),
      Number(status),
    ]);
    const ofTheEngine = new Set<string>(ERROR_CODES);
    const kinds = Object.entries(ERROR_KINDS).filter(([code]) => !ofTheEngine.has(code));
    expect(documented).toEqual(kinds.map(([code, { status }]) => [code, status]));
  });

  it('have every option of openFlags', () => {
    const source = read('packages/core/src/options.ts');
    const top = source.replaceAll(/\{ .* \}/g, '');
    const members = membersOf(top, 'export interface FlagsOptions').filter(
      (name) => name !== 'usage' && name !== 'due',
    );
    const documented = optionsAfter('## `openFlags(options)`').map((name) => name.replace(/^(usage|due)\./, ''));
    expect(documented).toEqual(members);
  });

  it('have every option of sqliteStorage', () => {
    const source = read('packages/core/src/storage/sqlite/options.ts');
    const settings = membersOf(source, 'export interface SqliteStorageSettings');
    expect(optionsAfter('## `sqliteStorage(path)`, `sqliteStorage(options)`')).toEqual([
      'path',
      'driverFrom',
      'database',
      ...settings,
    ]);
  });

  it('have every option of createFlagsRouter', () => {
    const source = read('packages/http/src/options.ts');
    const members = membersOf(source, 'export interface FlagsApiOptions');
    expect(optionsAfter('## Options of createFlagsRouter')).toEqual(members);
  });

  it('have every option of the admin page', () => {
    const table = read('packages/ui/README.md').split('## Options')[1]?.split('\n## ')[0] ?? '';
    const documented = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
    expect(documented).toEqual(membersOf(read('packages/ui/src/options.ts'), 'export interface FlagsUiOptions'));
  });

  it('have every variable of the reference server', () => {
    const used = [...read('examples/server/src/config.ts').matchAll(/environment\.([A-Z_]+)/g)].map(([, name]) => name);
    expect(optionsAfter('## The reference server').sort()).toEqual([...new Set(used)].sort());
  });
});

describe('the limits of docs/limits.md', () => {
  const DEFAULT = { project: 'default' };
  const CHECKOUT = { ...DEFAULT, flag: 'checkout' };
  const PRODUCTION = { ...CHECKOUT, environment: 'production' };
  const STOP = '2026-01-01T00:00:00Z';

  const text = (length: number) => 'x'.repeat(length);
  const many = <T>(length: number, make: (index: number) => T) => Array.from({ length }, (_, index) => make(index));
  const equals = (values: readonly string[]): Constraint => ({ contextName: 'userId', operator: 'IN', values });
  const matches = (value: string): Constraint => ({ contextName: 'userId', operator: 'REGEX', value });

  /** Uses a limit with this number of items on flags that have `checkout`. Fails above the limit. */
  type Probe = (flags: Flags<string>, amount: number) => Promise<unknown>;

  const strategyWith =
    (member: (amount: number) => object): Probe =>
    (flags, amount) =>
      flags.addStrategy(PRODUCTION, { name: 'default', ...member(amount) });
  const variantWith =
    (member: (amount: number) => Partial<VariantInput>): Probe =>
    (flags, amount) =>
      flags.setVariants(CHECKOUT, [{ name: 'a', ...member(amount) }]);

  /** Sends a body to a route, and fails with the code of its answer. */
  const send =
    (path: string, bodyOf: (amount: number) => string): Probe =>
    async (flags, amount) => {
      const { app } = await createHostApp({ flags: { storage: memoryStorage() } });
      await flags.close();
      const { status, body } = await request(app)
        .post(path)
        .set('content-type', 'application/json')
        .send(bodyOf(amount));
      if (status >= 500) throw new Error(JSON.stringify(body));
      if (status >= 400) throw Object.assign(new Error(body.message), { code: body.code });
    };

  async function startRollout(flags: Flags, steps: NewRollout['steps']): Promise<void> {
    const { id } = await flags.addStrategy(PRODUCTION, { name: 'flexibleRollout' });
    await flags.enable(PRODUCTION);
    await flags.rollouts.start({ ...PRODUCTION, strategy: id }, { steps });
  }

  const FEATURES = '/api/admin/projects/default/features';
  const BULK = '/api/client/metrics/bulk';
  const metric = { appName: 'a', featureName: 'b', timestamp: STOP, yes: 1, no: 0 };

  const PROBES: Readonly<Record<string, Probe>> = {
    body: send(FEATURES, (bytes) => `{"name":"a"${' '.repeat(bytes - 12)}}`),
    // The body has two objects or arrays and two members around the empty arrays.
    structure: send(FEATURES, (amount) => `{"name":"a","x":[${many(amount - 4, () => '[]').join(',')}]}`),
    depth: send(FEATURES, (levels) => `{"name":"a","x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`),
    async documentBytes(flags, amount) {
      const flag = { ...DEFAULT, flag: 'measured' };
      const { revision: _revision, ...stored } = await flags.createFlag(DEFAULT, { name: 'measured' });
      const { id } = await flags.addStrategy({ ...flag, environment: 'production' }, { name: 'default' });
      const most = text(LIMITS.parameterText);
      const input = (filling: string) => ({ name: 'default', parameters: { a: most, b: most, c: filling } });
      const strategies = [{ id, constraints: [], ...input('') }];
      const environments = [{ name: 'production', enabled: false, strategies }];
      const rest = amount - JSON.stringify({ ...stored, dependencies: [], environments }).length;
      await flags.updateStrategy({ ...flag, environment: 'production', strategy: id }, input(text(rest)));
    },
    name: (flags, amount) => flags.createFlag(DEFAULT, { name: text(amount) }),
    label: (flags, amount) => flags.tokens.create({ name: text(amount), kind: 'admin' }),
    shortDescription: (flags, amount) => flags.createProject({ id: 'a', name: 'a', description: text(amount) }),
    description: (flags, amount) => flags.updateFlag(CHECKOUT, { description: text(amount) }),
    labelsPerFlag: (flags, amount) => flags.updateFlag(CHECKOUT, { labels: many(amount, String) }),
    flagLabel: (flags, amount) => flags.updateFlag(CHECKOUT, { labels: [text(amount)] }),
    owner: (flags, amount) => flags.updateFlag(CHECKOUT, { owner: text(amount) }),
    searchText: (flags, amount) => flags.listFlags({ query: text(amount) }),
    async projectsPerQuery(flags, amount) {
      const projects = many(amount, (n) => `project-${n}`);
      for (const id of projects) await flags.createProject({ id, name: id });
      await flags.listFlags({ project: projects });
    },
    title: strategyWith((amount) => ({ title: text(amount) })),
    secret: (flags, amount) => flags.tokens.create({ name: 'a', kind: 'admin', secret: text(amount) }),
    async projectsPerToken(flags, amount) {
      const projects = many(amount, (n) => `project-${n}`);
      for (const id of projects) await flags.createProject({ id, name: id });
      await flags.tokens.create({ name: 'a', kind: 'client', projects });
    },
    tokensPerVerification: (flags, amount) => flags.verifyTokens(many(amount, (n) => `secret-${n}`)),
    async tokenOverlap(flags, amount) {
      const { token } = await flags.tokens.create({ name: 'a', kind: 'client' });
      await flags.tokens.rotate({ token: token.id }, { overlap: amount });
    },
    async strategiesPerEnvironment(flags, amount) {
      for (let count = 0; count < amount; count++) await flags.addStrategy(PRODUCTION, { name: 'default' });
    },
    parameters: strategyWith((amount) => ({ parameters: Object.fromEntries(many(amount, (n) => [`p${n}`, n])) })),
    parameterText: strategyWith((amount) => ({ parameters: { userIds: text(amount) } })),
    constraints: strategyWith((amount) => ({ constraints: many(amount, () => equals(['a'])) })),
    values: strategyWith((amount) => ({ constraints: [equals(many(amount, String))] })),
    valueText: strategyWith((amount) => ({ constraints: [equals([text(amount)])] })),
    async segmentsPerStrategy(flags, amount) {
      const { id } = await flags.segments.create({ name: 'a', constraints: [] });
      for (let n = 1; n < amount; n++) await flags.segments.create({ name: `a${n}`, constraints: [] });
      await flags.addStrategy(PRODUCTION, { name: 'default', segments: many(amount, (n) => id + n) });
    },
    variants: (flags, amount) =>
      flags.setVariants(
        CHECKOUT,
        many(amount, (n) => ({ name: `v${n}` })),
      ),
    overrides: variantWith((amount) => ({ overrides: many(amount, () => ({ contextName: 'a', values: [] })) })),
    payloadText: variantWith((amount) => ({ payload: { type: 'string', value: text(amount) } })),
    async dependencies(flags, amount) {
      for (let count = 0; count < amount; count++) {
        await flags.createFlag(DEFAULT, { name: `parent-${count}` });
        await flags.addDependency(CHECKOUT, { flag: `parent-${count}` });
      }
    },
    changesPerSet: (flags, amount) =>
      flags.apply(many(amount, () => ({ op: 'updateFlag', ref: CHECKOUT, input: { stale: true } }) as const)),
    documentsPerImport: (flags, amount) =>
      flags.definitions.import({ version: 1, flags: many(amount, (at) => ({ name: `flag-${at}` })) }),
    reason: (flags, amount) => flags.apply([], { reason: text(amount) }),
    async consumers(flags, amount) {
      for (let count = 0; count < amount; count++) await flags.consume(`c${count}`, () => undefined);
    },
    consumerLease: (flags, amount) => flags.consume('audit', () => undefined, { lease: amount }),
    requestWindow(flags, amount) {
      const due = Date.now() + 60_000;
      const notAfter = new Date(due + amount).toISOString();
      const change: Change = { op: 'archiveFlag', ref: CHECKOUT };
      return flags.changeRequests.create([change], { at: new Date(due).toISOString(), notAfter });
    },
    rolloutSteps: (flags, amount) =>
      startRollout(
        flags,
        many(amount, () => ({ percentage: 1, hold: 0 })),
      ),
    rolloutHold: (flags, amount) => startRollout(flags, [{ percentage: 1, hold: amount }]),
    protectedEnvironments: (flags, amount) => {
      const named = many(amount, (at) => [`e${at}`, { required: 1 }] as const);
      return flags.approvalPolicy.set({ environments: Object.fromEntries(named) });
    },
    requiredApprovals: (flags, amount) =>
      flags.approvalPolicy.set({ environments: { production: { required: amount } } }),
    previewContexts: (flags, amount) =>
      flags.preview([], { environment: 'production', contexts: many(amount, () => ({})) }),
    contextBytes: send('/api/frontend', (bytes) => `{"context":{"userId":"${text(bytes - 25)}"}}`),
    contextProperties: send('/api/frontend', (amount) => {
      const members = many(amount, (at) => `"p${at}":1`);
      return `{"context":{"properties":{${members.join(',')}}}}`;
    }),
    patchOperations: (flags, amount) =>
      patchFlag(flags, {
        ref: CHECKOUT,
        patch: many(amount, () => ({ op: 'test', path: '/stale', value: false })),
        context: {},
      }),
    patchPointer: (flags, amount) =>
      // The test of a place that is not there fails otherwise.
      patchFlag(flags, {
        ref: CHECKOUT,
        patch: [
          { op: 'add', path: '/description', value: 'x' },
          { op: 'copy', from: '/description', path: `/labels/${'0'.repeat(amount - 8)}` },
        ],
        context: {},
      }).catch((error) => {
        if (error.code !== 'invalid_patch') throw error;
      }),
    async patchCopies(flags, amount) {
      // In JSON it has quotes.
      const parameters = { a: text(amount - 2) };
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default', parameters });
      const copy = { op: 'copy', from: '/parameters/a', path: '/parameters/b' };
      await patchStrategy(flags, { ref: { ...PRODUCTION, strategy: id }, patch: [copy], context: {} });
    },
    pattern: strategyWith((amount) => ({ constraints: [matches(`(?:${text(amount - 6)}){0}`.slice(0, amount))] })),
    patternRepetitions: strategyWith((amount) => ({ constraints: [matches(`a{${amount}}`)] })),
    patternsPerFlag: strategyWith((amount) => ({ constraints: many(amount, (n) => matches(`^${n}$`)) })),
    reportedName: (flags, amount) =>
      flags.reportMetrics({ application: text(amount), start: STOP, stop: STOP, counts: {} }),
    registrationSize(flags, bytes) {
      const strategies = many(1000, (n) => `strategy-${n}`.padEnd(62, 'x'));
      const empty = JSON.stringify({ application: 'a', strategies, description: '' });
      const description = text(bytes - empty.length);
      return flags.registerApplication({ application: 'a', strategies, description });
    },
    strategiesPerRegistration: (flags, amount) =>
      flags.registerApplication({ application: 'a', strategies: many(amount, String) }),
    variantsPerReportedFlag: (flags, amount) => {
      const variants = Object.fromEntries(many(amount, (n) => [`v${n}`, 1]));
      const counts = { checkout: { yes: 1, no: 0, variants } };
      return flags.reportMetrics({ application: 'a', start: STOP, stop: STOP, counts });
    },
    flagsPerReport: (flags, amount) =>
      flags.reportMetrics({
        application: 'a',
        start: STOP,
        stop: STOP,
        counts: Object.fromEntries(many(amount, (n) => [`f${n}`, { yes: 1, no: 0 }])),
      }),
    applicationsPerBatch: send(BULK, (amount) =>
      JSON.stringify({ applications: many(amount, () => ({ appName: 'a' })) }),
    ),
    metricsPerBatch: send(BULK, (amount) => JSON.stringify({ metrics: many(amount, () => metric) })),
    batchId: (flags, amount) => flags.reportMetricsInBulk({}, { id: 'x'.repeat(amount) }),
    eventsPerPage: (flags, amount) => flags.events.list({ limit: amount }),
    itemsPerPage: (flags, amount) => flags.listFlags(DEFAULT, { limit: amount }),
  };

  const ROWS = tableAfter(read('docs/limits.md'), '## What is refused').map(([name, most, of]) => ({
    name: codeIn(name),
    most: Number(most?.replaceAll(',', '')),
    code: /\(`(\w+)`\)$/.exec(of ?? '')?.[1] ?? 'invalid_input',
  }));

  async function outcomeOf(name: string, amount: number): Promise<string> {
    const options = { onProblem: () => undefined, due: { run: 'elsewhere' } } as const;
    const flags = await openFlags({ storage: memoryStorage(), ...options });
    try {
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await PROBES[name]?.(flags, amount);
      return 'accepted';
    } catch (error) {
      return String((error as { readonly code?: unknown }).code);
    } finally {
      await flags.close();
    }
  }

  it('include all limits of the engine, with their values', () => {
    const tables = ['## What is refused', '## What is combined', '## What is dropped, cut or ignored'];
    const documented = tables
      .flatMap((heading) => tableAfter(read('docs/limits.md'), heading))
      .map(([name, value]) => [codeIn(name), Number(value?.replaceAll(',', ''))] as const);
    const ofTheRouter = ['body', 'structure', 'depth', 'patchOperations', 'patchPointer', 'patchCopies'];
    const ofTheEngine = documented.filter(([name]) => !ofTheRouter.includes(name));
    expect(Object.fromEntries(ofTheEngine)).toEqual(LIMITS);
  });

  it('have a test each in this file', () => {
    expect(ROWS.map(({ name }) => name)).toEqual(Object.keys(PROBES));
  });

  it.each(ROWS)('accept $most of $name, and refuse one more with $code', async ({ name, most, code }) => {
    expect(await outcomeOf(name, most)).toBe('accepted');
    expect(await outcomeOf(name, most + 1)).toBe(code);
  });
});
