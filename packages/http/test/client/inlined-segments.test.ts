import { createFlags, type Flags, memoryStorage } from '@flags/core';
import type { Express } from 'express';
import request from 'supertest';
import { createHostApp } from '../host-app.js';
import { type LiveServer, startLiveServer } from './live-server.js';

const FEATURES = '/api/client/features';
const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };
const VARY = 'Unleash-Client-Spec';

let app: Express;
let flags: Flags;

beforeEach(async () => {
  ({ app, flags } = await createHostApp());
});

afterEach(() => flags.close());

function get(spec: string | undefined, path = FEATURES) {
  const sent = request(app).get(path);
  return spec === undefined ? sent : sent.set('unleash-client-spec', spec);
}

async function createFlagWithSegment(): Promise<number> {
  const { id } = await flags.createSegment({
    name: 'beta',
    constraints: [{ contextName: 'userId', operator: 'IN', values: ['7', '8'] }],
  });
  await flags.createFlag({ project: 'default' }, { name: 'checkout' });
  await flags.addStrategy(PRODUCTION, {
    name: 'default',
    constraints: [{ contextName: 'region', operator: 'NOT_IN', values: ['moon'] }],
    segments: [id],
  });
  await flags.enable(PRODUCTION);
  return id;
}

const OWN = { contextName: 'region', operator: 'NOT_IN', values: ['moon'], inverted: false, caseInsensitive: false };
const INLINED = { contextName: 'userId', operator: 'IN', values: ['7', '8'], inverted: false, caseInsensitive: false };

describe('segments for SDKs', () => {
  it.each([undefined, '', 'x', '3.9.0', '4.0.0', '4.1.9', '4', '-5.0.0'])('are inlined for %p', async (spec) => {
    await createFlagWithSegment();
    const { body, headers } = await get(spec).expect(200);
    expect(body).toEqual({ version: 2, features: expect.any(Array), query: { environment: 'production' } });
    expect(body.features[0].strategies).toEqual([{ name: 'default', parameters: {}, constraints: [OWN, INLINED] }]);
    expect(headers.vary).toContain(VARY);
    const one = await get(spec, `${FEATURES}/checkout`).expect(200);
    expect(one.body).toEqual(body.features[0]);
    expect(one.headers.vary).toContain(VARY);
  });

  it.each(['4.2.0', '4.2', '4.5.1', '5.1.9', '10.0.0'])('are separate from the flags for %s', async (spec) => {
    const id = await createFlagWithSegment();
    const { body, headers } = await get(spec).expect(200);
    expect(body.segments).toMatchObject([{ id, constraints: [INLINED] }]);
    expect(body.features[0].strategies).toMatchObject([{ constraints: [OWN], segments: [id] }]);
    expect(headers.vary).toContain(VARY);
    const one = await get(spec, `${FEATURES}/checkout`).expect(200);
    expect(one.body).toEqual(body.features[0]);
  });

  it.each([FEATURES, `${FEATURES}/checkout`])('give each form of %s its own ETag', async (path) => {
    const id = await createFlagWithSegment();
    const inlined = (await get(undefined, path)).headers;
    const beside = (await get('4.2.0', path)).headers;
    expect(inlined.etag).not.toBe(beside.etag);
    const again = await get(undefined, path).set('if-none-match', `${inlined.etag}`).expect(304);
    expect(again.headers.vary).toContain(VARY);
    await get('4.2.0', path).set('if-none-match', `${inlined.etag}`).expect(200);
    const constraints = [{ contextName: 'userId', operator: 'IN' as const, values: ['9'] }];
    await flags.updateSegment({ segment: id }, { name: 'beta', constraints });
    await get(undefined, path).set('if-none-match', `${inlined.etag}`).expect(200);
  });

  it('of several strategies and flags are inlined in each; other middleware may vary too', async () => {
    const id = await createFlagWithSegment();
    await flags.addStrategy(PRODUCTION, { name: 'default', segments: [id, id].slice(1) });
    const { body } = await get('4.1.0').expect(200);
    expect(body.features[0].strategies.map(({ constraints }: { constraints: unknown }) => constraints)).toEqual([
      [OWN, INLINED],
      [INLINED],
    ]);
    const host = await createHostApp({
      before: [
        (_request, response, next) => {
          response.setHeader('vary', 'Origin');
          next();
        },
      ],
    });
    const { headers } = await request(host.app).get(FEATURES);
    expect(headers.vary).toBe(`Origin, ${VARY}`);
    await host.flags.close();
  });

  it('that do not exist prevent a match of the strategy', async () => {
    const id = await createFlagWithSegment();
    const { flags: stored } = flags.configuration();
    const [flag] = stored;
    const chunks: string[] = [];
    const { inlinedFlagChunks } = await import('../../src/client/client-document.js');
    if (flag) for await (const chunk of inlinedFlagChunks(flag, new Map())) chunks.push(chunk);
    expect(JSON.parse(chunks.join('')).strategies[0].constraints).toEqual([
      OWN,
      { contextName: 'userId', operator: 'IN', values: [], inverted: false, caseInsensitive: false },
    ]);
    expect(id).toBe(1);
  });
});

describe('a segment of 0.5 MiB in 200 strategies', () => {
  let server: LiveServer;

  afterEach(() => server.stop());

  it('is streamed and not cached', async () => {
    server = await startLiveServer();
    const values = Array.from({ length: 20_000 }, (_, at) => `${at}`.padStart(24, '0'));
    const { id } = await server.flags.createSegment({
      name: 'large',
      constraints: [{ contextName: 'userId', operator: 'IN', values }],
    });
    for (const name of ['a', 'b']) {
      await server.flags.createFlag({ project: 'default' }, { name });
      for (let count = 0; count < 100; count++) {
        await server.flags.addStrategy({ ...PRODUCTION, flag: name }, { name: 'default', segments: [id] });
      }
    }
    const before = process.memoryUsage();
    let highest = 0;
    let length = 0;
    const response = await fetch(`${server.url}${FEATURES}`);
    for await (const part of response.body ?? []) {
      length += part.length;
      highest = Math.max(highest, process.memoryUsage().arrayBuffers);
    }
    expect(length).toBeGreaterThan(100_000_000);
    expect(highest - before.arrayBuffers).toBeLessThan(64 * 1024 * 1024);
    const etag = response.headers.get('etag') ?? '';
    const again = await fetch(`${server.url}${FEATURES}`, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
  }, 120_000);
});

describe('60 queries of a large configuration', () => {
  it('are not all cached', async () => {
    const { createClientDocuments } = await import('../../src/client/client-document.js');
    const { createResponseCaches } = await import('../../src/caching.js');
    const many = await createFlags({ storage: memoryStorage() });
    const value = 'x'.repeat(100_000);
    for (let n = 0; n < 70; n++) {
      const ref = { ...PRODUCTION, flag: `flag-${n}` };
      await many.createFlag({ project: 'default' }, { name: ref.flag });
      await many.addStrategy(ref, { name: 'default', parameters: { value } });
    }
    const documents = createClientDocuments(many, createResponseCaches()('client'));
    const before = process.memoryUsage().arrayBuffers;
    for (let n = 0; n < 60; n++) {
      const asked = {
        environment: 'production',
        projects: ['default', `other-${n}`],
        namePrefix: '',
        labels: undefined,
      };
      const { chunks, serialized } = await documents.features({ asked, segments: 'beside' });
      expect([chunks !== undefined, serialized]).toEqual([true, undefined]);
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 1024 * 1024);
    await many.close();
  }, 60_000);
});
