import { createFlags, type Flags, memoryStorage } from '@flags/core';
import type { Express } from 'express';
import request from 'supertest';
import { createClientDocuments } from '../../src/client/documents.js';
import { flagText } from '../../src/client/texts.js';
import type { View } from '../../src/client/view.js';
import { createHostApp } from '../host-app.js';
import { createOn } from './states.js';

const FEATURES = '/api/client/features';
const CHECKOUT = { project: 'default', flag: 'checkout' };
const PRODUCTION = { ...CHECKOUT, environment: 'production' };
const ALL: View = { environment: 'production', projects: undefined, namePrefix: '' };

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
    const response = await request(app).get(FEATURES).expect(200);
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

  it('is off when all its strategies are disabled, as it evaluates to', async () => {
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

  it('has the ETag that another process on the same state gives', async () => {
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
    const documents = createClientDocuments(flags);
    const first = documents.features(ALL);
    expect(documents.features({ ...ALL })).toBe(first);
    expect(documents.features({ ...ALL, namePrefix: 'c' })).not.toBe(first);
    expect(documents.feature(ALL, 'checkout')).toBe(documents.feature({ ...ALL, namePrefix: 'c' }, 'checkout'));
    await flags.disable(PRODUCTION);
    expect(documents.features(ALL)).not.toBe(first);
  });

  it('forgets views that were not asked for lately', async () => {
    const documents = createClientDocuments(flags);
    const first = documents.features(ALL);
    for (let n = 0; n < 49; n += 1) documents.features({ ...ALL, namePrefix: `n${n}` });
    expect(documents.features(ALL)).toBe(first);
    for (let n = 0; n < 50; n += 1) documents.features({ ...ALL, namePrefix: `m${n}` });
    expect(documents.features(ALL)).not.toBe(first);
  });
});

describe('one change among 10,000 flags', () => {
  it('makes the JSON of one flag anew', async () => {
    const storage = memoryStorage();
    const many = await createFlags({ storage });
    await Promise.all(
      Array.from({ length: 10_000 }, (_, n) => many.createFlag({ project: 'default' }, { name: `flag-${n}` })),
    );
    const documents = createClientDocuments(many);
    documents.features(ALL);
    const stringify = jest.spyOn(JSON, 'stringify');
    const before = many.configuration(ALL).flags;
    await many.updateFlag({ project: 'default', flag: 'flag-7' }, { stale: true });
    stringify.mockClear();
    const { bytes } = documents.features(ALL);
    const made = stringify.mock.calls.filter(([value]) => (value as { name?: string }).name !== undefined);
    stringify.mockRestore();
    expect(made).toMatchObject([[{ name: 'flag-7', stale: true }]]);
    expect(JSON.parse(bytes.toString()).features).toHaveLength(10_000);
    const kept = many.configuration(ALL).flags.filter((flag, index) => flag === before[index]);
    expect(kept).toHaveLength(9_999);
    expect(new Set(kept.map(flagText)).size).toBe(9_999);
    await many.close();
  }, 60_000);
});
