import type { Flags } from '@flags/core';
import type { Express } from 'express';
import request from 'supertest';
import { createResponseCaches } from '../../src/caching.js';
import { type ClientDocuments, type ClientQuery, createClientDocuments } from '../../src/client/client-document.js';
import { createHostApp } from '../host-app.js';
import { createOn } from './states.js';

const FEATURES = '/api/client/features';
const CHECKOUT = { project: 'default', flag: 'checkout' };
const PRODUCTION = { ...CHECKOUT, environment: 'production' };
const ALL: ClientQuery = { environment: 'production', projects: undefined, namePrefix: '', labels: undefined };

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
    const { id } = await flags.createSegment({
      name: 'beta',
      constraints: [{ contextName: 'version', operator: 'SEMVER_GT', value: '1.0.0', inverted: true }],
    });
    await flags.createFlag({ project: 'default' }, { name: 'payments' });
    await flags.createFlag({ project: 'default' }, { name: 'checkout', impressionData: true });
    await flags.addDependency(CHECKOUT, { flag: 'payments' });
    const payload = { type: 'string', value: 'x' } as const;
    await flags.addStrategy(PRODUCTION, {
      name: 'flexibleRollout',
      parameters: { rollout: 12.5, stickiness: 'default', groupId: null, own: true, ['__proto__']: 1 },
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
          parameters: { rollout: '12.5', stickiness: 'default', own: 'true', ['__proto__']: '1' },
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

  it.each(['__proto__', 'constructor'])('may be called %s', async (name) => {
    await createOn(flags, { name });
    expect(await featuresAt()).toEqual([name]);
    const { text } = await request(app).get(`${FEATURES}/${name}`).expect(200);
    expect(JSON.parse(text)).toMatchObject({ name });
  });
});

describe('the list of flags for SDKs', () => {
  it('is narrowed by projects and by the beginning of names', async () => {
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

  it('keeps its ETag until something in it changes, whatever changes elsewhere', async () => {
    await createOn(flags, { name: 'checkout' });
    const { etag } = (await request(app).get(FEATURES)).headers;
    await request(app).get(FEATURES).set('if-none-match', `W/${etag}`).expect(304);
    await flags.addStrategy({ ...PRODUCTION, environment: 'development' }, { name: 'default' });
    await request(app).get(FEATURES).set('if-none-match', `${etag}`).expect(304);
    await flags.disable(PRODUCTION);
    const changed = await request(app).get(FEATURES).set('if-none-match', `${etag}`).expect(200);
    expect(changed.headers.etag).not.toBe(etag);
  });

  it('has an ETag for each choice of tags, and another one when a label brings a flag into it', async () => {
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
    const documents = documentsOf(flags);
    const bytesOf = async (asked: ClientQuery) =>
      (await documents.features({ asked, segments: 'beside' })).serialized?.bytes;
    const first = await bytesOf(ALL);
    expect(first).toBeInstanceOf(Buffer);
    expect(await bytesOf({ ...ALL })).toBe(first);
    expect(await bytesOf({ ...ALL, namePrefix: 'c' })).not.toBe(first);
    await flags.disable(PRODUCTION);
    expect(await bytesOf(ALL)).not.toBe(first);
  });

  it('is generated once for simultaneous requests', async () => {
    await createOn(flags, { name: 'checkout' });
    const documents = documentsOf(flags);
    const request = { asked: ALL, segments: 'beside' } as const;
    const [one, other] = await Promise.all([documents.features(request), documents.features(request)]);
    expect(one.serialized?.bytes).toBe(other.serialized?.bytes);
  });
});

function documentsOf(one: Flags): ClientDocuments {
  return createClientDocuments(one, createResponseCaches()('client'));
}
