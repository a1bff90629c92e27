import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { json } from 'node:stream/consumers';
import { type Change, type CreatedToken, type Flags, memoryStorage, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { faultyStorage } from '@flags/core/testing';
import express from 'express';
import request from 'supertest';
import { until } from '../../../../test/until.js';
import { OPERATIONS, operationOf } from '../../../core/src/features.js';
import { createFlagsRouter } from '../../../express/src/index.js';
import { ROUTES } from '../../src/routes.js';
import { codeBlocks, read } from './documents.js';
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
    const named = [...read('docs/architecture.md').matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = '']) =>
      path.startsWith('packages/') ? path : `packages/core/src/${path}`,
    );
    expect(named.length).toBeGreaterThan(60);
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
    const pages = ['docs', 'docs/reference'].flatMap(markdownIn).filter((path) => path !== 'docs/README.md');
    expect(pages.filter((path) => !index.includes(`](${posix.relative('docs', path)})`))).toEqual([]);
  });
});

describe('the lists in guides', () => {
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
});
