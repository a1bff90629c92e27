import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import type { Express } from 'express';
import request from 'supertest';
import { until } from '../../../../test/until.js';
import { flagToWire } from '../../src/client/client-document.js';
import { createFlagsApi } from '../../src/create-flags-api.js';
import { collectPieces, jsonArray } from '../../src/messages/json.js';
import { createHostApp } from '../host-app.js';
import { type LiveServer, startLiveServer } from './live-server.js';
import { createOn } from './states.js';

describe('features for clients', () => {
  const FEATURES = '/api/client/features';
  const CHECKOUT = { project: 'default', flag: 'checkout' };
  const PRODUCTION = { ...CHECKOUT, environment: 'production' };

  let app: Express;
  let flags: Flags;

  beforeEach(async () => {
    ({ app, flags } = await createHostApp());
  });

  afterEach(() => flags.close());

  async function featuresAt(query = ''): Promise<readonly string[]> {
    const { body } = await request(app).get(`${FEATURES}${query}`).expect(200);
    return body.features.map(({ name }: { name: string }) => name);
  }

  describe('a flag for SDKs', () => {
    it('has complete constraints, parameters as text, variants, segments and dependencies', async () => {
      const { id } = await flags.segments.create({
        name: 'beta',
        constraints: [{ contextName: 'version', operator: 'SEMVER_GT', value: '1.0.0', inverted: true }],
      });
      await flags.createFlag({ project: 'default' }, { name: 'payments' });
      await flags.createFlag({ project: 'default' }, { name: 'checkout', impressionData: true });
      await flags.addDependency(CHECKOUT, { flag: 'payments' });
      const payload = { type: 'string', value: 'x' } as const;
      await (flags as Flags<string>).addStrategy(PRODUCTION, {
        name: 'flexibleRollout',
        parameters: { rollout: 12, stickiness: 'default', groupId: null, own: true, ['__proto__']: 1 },
        constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }],
        segments: [id],
        variants: [{ name: 'wide', weightType: 'variable', weight: 1000, stickiness: 'default', payload }],
      });
      await flags.setVariants(CHECKOUT, [
        { name: 'blue', payload, overrides: [{ contextName: 'userId', values: ['7'] }] },
      ]);
      const response = await request(app).get(FEATURES).set('unleash-client-spec', '4.2.0').expect(200);
      const [checkout] = JSON.parse(response.text).features;
      expect(checkout).toEqual({
        name: 'checkout',
        type: 'release',
        description: '',
        project: 'default',
        enabled: false,
        stale: false,
        impressionData: true,
        strategies: [
          {
            name: 'flexibleRollout',
            parameters: { rollout: '12', stickiness: 'default', own: 'true', ['__proto__']: '1' },
            constraints: [
              { contextName: 'userId', operator: 'IN', values: ['7'], inverted: false, caseInsensitive: false },
            ],
            segments: [id],
            variants: [{ name: 'wide', weight: 1000, stickiness: 'default', payload }],
          },
        ],
        variants: [
          {
            name: 'blue',
            weight: 1000,
            stickiness: 'default',
            payload,
            overrides: [{ contextName: 'userId', values: ['7'] }],
          },
        ],
        dependencies: [{ feature: 'payments', enabled: true }],
      });
      expect(response.body.segments).toEqual([
        {
          id,
          name: 'beta',
          constraints: [
            {
              contextName: 'version',
              operator: 'SEMVER_GT',
              values: [],
              value: '1.0.0',
              inverted: true,
              caseInsensitive: false,
            },
          ],
        },
      ]);
    });

    it('is off when all its strategies are disabled, like its evaluation', async () => {
      await flags.createFlag({ project: 'default' }, { name: 'checkout' });
      await flags.addStrategy(PRODUCTION, { name: 'default', disabled: true });
      await flags.enable(PRODUCTION);
      const { body } = await request(app).get(`${FEATURES}/checkout`).expect(200);
      expect(body).toMatchObject({ enabled: false, strategies: [] });
      expect(flags.isEnabled('checkout')).toBe(false);
    });

    it.each(['__proto__', 'constructor'])('may have the name %s', async (name) => {
      await createOn(flags, { name });
      expect(await featuresAt()).toEqual([name]);
      const { text } = await request(app).get(`${FEATURES}/${name}`).expect(200);
      expect(JSON.parse(text)).toMatchObject({ name });
    });
  });

  describe('the list of flags for SDKs', () => {
    it('is filtered by projects and by prefixes of names', async () => {
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await createOn(flags, { name: 'checkout' });
      await createOn(flags, { name: 'search' });
      await createOn(flags, { name: 'basket' }, 'shop');
      expect(await featuresAt()).toEqual(['basket', 'checkout', 'search']);
      expect(await featuresAt('?project=shop')).toEqual(['basket']);
      expect(await featuresAt('?project=shop&project=default')).toEqual(['basket', 'checkout', 'search']);
      expect(await featuresAt('?project=moon')).toEqual([]);
      expect(await featuresAt('?namePrefix=se')).toEqual(['search']);
      expect(await featuresAt('?project=default&namePrefix=b')).toEqual([]);
      const { body } = await request(app).get(`${FEATURES}?project=shop&namePrefix=b`);
      expect(body.query).toEqual({ environment: 'production', project: ['shop'], namePrefix: 'b' });
    });

    it('keeps its ETag until its content changes, whatever changes elsewhere', async () => {
      await createOn(flags, { name: 'checkout' });
      const { etag } = (await request(app).get(FEATURES)).headers;
      await request(app).get(FEATURES).set('if-none-match', `W/${etag}`).expect(304);
      await flags.addStrategy({ ...PRODUCTION, environment: 'development' }, { name: 'default' });
      await request(app).get(FEATURES).set('if-none-match', `${etag}`).expect(304);
      await flags.disable(PRODUCTION);
      const changed = await request(app).get(FEATURES).set('if-none-match', `${etag}`).expect(200);
      expect(changed.headers.etag).not.toBe(etag);
    });

    it('has an ETag for each choice of tags, and another one when a label adds a flag', async () => {
      await createOn(flags, { name: 'checkout', labels: ['blue'] });
      await createOn(flags, { name: 'search' });
      const blue = `${FEATURES}?tag=simple:blue`;
      const { etag } = (await request(app).get(blue)).headers;
      await request(app).get(`${FEATURES}?tag=simple:red`).set('if-none-match', `${etag}`).expect(200);
      await request(app).get(FEATURES).set('if-none-match', `${etag}`).expect(200);
      await request(app).get(blue).set('if-none-match', `${etag}`).expect(304);
      expect(await featuresAt('?tag=simple:blue')).toEqual(['checkout']);
      await flags.changeLabels({ project: 'default', flag: 'search' }, { add: ['blue'] });
      await request(app).get(blue).set('if-none-match', `${etag}`).expect(200);
      expect(await featuresAt('?tag[]=simple:blue&namePrefix=s')).toEqual(['search']);
    });

    it('has the same ETag in another process with the same state', async () => {
      const other = await createHostApp();
      for (const host of [flags, other.flags]) await createOn(host, { name: 'checkout' });
      const tags = await Promise.all(
        [app, other.app].map(async (one) => (await request(one).get(FEATURES)).headers.etag),
      );
      expect(tags[0]).toBe(tags[1]);
      await other.flags.close();
    });

    it('is the same Buffer for every request until something changes', async () => {
      await createOn(flags, { name: 'checkout' });
      const bytesOf = createReader(flags);
      const first = await bytesOf();
      expect(first).toBeInstanceOf(Buffer);
      expect(await bytesOf()).toBe(first);
      expect(await bytesOf('namePrefix=c')).not.toBe(first);
      await flags.disable(PRODUCTION);
      expect(await bytesOf()).not.toBe(first);
    });

    it('is generated once for simultaneous requests', async () => {
      await createOn(flags, { name: 'checkout' });
      const bytesOf = createReader(flags);
      const [one, other] = await Promise.all([bytesOf(), bytesOf()]);
      expect(one).toBe(other);
    });
  });

  function createReader(one: Flags) {
    const ask = createCheck(one);
    return async (rawQuery = '') => (await ask(rawQuery))?.body;
  }
});

describe('inlined segments', () => {
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
    const { id } = await flags.segments.create({
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
  const INLINED = {
    contextName: 'userId',
    operator: 'IN',
    values: ['7', '8'],
    inverted: false,
    caseInsensitive: false,
  };

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

    it.each([FEATURES, `${FEATURES}/checkout`])('have a separate ETag for each form of %s', async (path) => {
      const id = await createFlagWithSegment();
      const inlined = (await get(undefined, path)).headers;
      const beside = (await get('4.2.0', path)).headers;
      expect(inlined.etag).not.toBe(beside.etag);
      const again = await get(undefined, path).set('if-none-match', `${inlined.etag}`).expect(304);
      expect(again.headers.vary).toContain(VARY);
      await get('4.2.0', path).set('if-none-match', `${inlined.etag}`).expect(200);
      const constraints = [{ contextName: 'userId', operator: 'IN' as const, values: ['9'] }];
      await flags.segments.update({ segment: id }, { name: 'beta', constraints });
      await get(undefined, path).set('if-none-match', `${inlined.etag}`).expect(200);
    });

    it('are inlined in each strategy and flag that uses them; other middleware may set Vary too', async () => {
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

    it('prevent a match of the strategy if they do not exist', async () => {
      const id = await createFlagWithSegment();
      const { flags: stored } = flags.configuration();
      const [flag] = stored;
      if (!flag) throw new Error('no flag');
      const json = await collectPieces(jsonArray([flagToWire(flag, new Map())]), Number.POSITIVE_INFINITY);
      expect(JSON.parse(`${json}`)[0].strategies[0].constraints).toEqual([
        OWN,
        { contextName: 'userId', operator: 'IN', values: [], inverted: false, caseInsensitive: false },
      ]);
      expect(id).toBe(1);
    });
  });

  it('are the same for flags and segments with many values, which are generated in pieces', async () => {
    const values = Array.from({ length: 1500 }, (_, number) => `user-${number}`);
    const constraint = { contextName: 'userId', operator: 'IN', values } as const;
    const { id } = await flags.segments.create({ name: 'many', constraints: [constraint] });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, { name: 'default', constraints: [constraint], segments: [id] });
    const sent = { ...constraint, inverted: false, caseInsensitive: false };
    const { body } = await request(app).get(FEATURES).set('Unleash-Client-Spec', '5.2.0').expect(200);
    expect(body.features[0].strategies).toEqual([
      { name: 'default', parameters: {}, constraints: [sent], segments: [id] },
    ]);
    expect(body.segments).toEqual([{ id, name: 'many', constraints: [sent] }]);
    const { body: older } = await request(app).get(FEATURES).expect(200);
    expect(older.features[0].strategies).toEqual([{ name: 'default', parameters: {}, constraints: [sent, sent] }]);
  });

  describe('a segment of 0.5 MiB in 200 strategies', () => {
    let server: LiveServer;

    afterEach(() => server.stop());

    it('is streamed and not cached, but has a tag', async () => {
      server = await startLiveServer();
      const values = Array.from({ length: 20_000 }, (_, at) => `${at}`.padStart(24, '0'));
      const { id } = await server.flags.segments.create({
        name: 'large',
        constraints: [{ contextName: 'userId', operator: 'IN', values }],
      });
      for (const name of ['a', 'b']) {
        await server.flags.createFlag({ project: 'default' }, { name });
        const ref = { ...PRODUCTION, flag: name };
        const addition = { op: 'addStrategy', ref, input: { name: 'default', segments: [id] } } as const;
        await server.flags.apply(Array.from({ length: 100 }, () => addition));
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

  describe('30 queries of a large configuration', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');

    function bytesOfBuffers(): number {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    }

    it('are cached up to 32 MiB', async () => {
      const many = await openFlags<string>({ storage: memoryStorage() });
      const value = 'x'.repeat(100_000);
      for (let n = 0; n < 15; n++) {
        const ref = { ...PRODUCTION, flag: `flag-${n}` };
        await many.createFlag({ project: 'default' }, { name: ref.flag });
        await many.addStrategy(ref, { name: 'default', parameters: { value } });
      }
      const ask = createCheck(many);
      const before = bytesOfBuffers();
      for (let n = 0; n < 30; n++) {
        const reply = await ask(`project=default&project=other-${n}`);
        expect([reply?.stream !== undefined, reply?.body]).toEqual([true, undefined]);
        await reply?.discard?.();
      }
      // V8 frees the memory of collected buffers a little later.
      await until(() => bytesOfBuffers() - before < 36 * 1024 * 1024);
      await many.close();
    }, 60_000);
  });
});

/** Returns a function that requests the flags without a server. */
function createCheck(flags: Flags) {
  const api = createFlagsApi(flags, { auth: 'none' });
  const path = '/api/client/features';
  const headers = { host: 'localhost', 'unleash-client-spec': '4.5.0' };
  return (rawQuery: string) =>
    api.handle({
      ...{ method: 'GET', path, rawQuery, originalUrl: `${path}?${rawQuery}`, headers, host: 'localhost' },
      hasBody: false,
      ip: () => undefined,
      readBody: async () => undefined,
      native: {},
    });
}
