import type { Flags } from '@flags/core';
import express, { type Express } from 'express';
import request from 'supertest';
import { linkToNext } from '../src/api/query.js';
import { startLiveServer } from './client/live-server.js';
import { askRaw } from './contract/raw-client.js';
import { EXPRESS_VERSIONS } from './express-versions.js';
import { createHostApp, FLAGS } from './host-app.js';

describe('pages', () => {
  const DEFAULT = { project: 'default' };
  const NAMES = ['a', 'b', 'c', 'd', 'e'];

  describe.each(EXPRESS_VERSIONS)('a long list, on Express $major', (version) => {
    it.each(['/', '/internal', '/tenants/:tenant/flags'])('is complete over its links, under %s', async (mount) => {
      const { app, flags } = await createHostApp({ version, mount });
      await createAll(flags, NAMES);
      const at = mount === '/' ? '' : mount.replace(':tenant', 'acme%20%26%20sons');
      expect(await follow(app, `${at}${FLAGS}?limit=2`)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
      expect(await follow(app, `${at}${FLAGS}?limit=5`)).toEqual([NAMES]);
      expect(await follow(app, `${at}${FLAGS}?after=c`)).toEqual([['d', 'e']]);
    });

    it('is complete, without a link, without page parameters', async () => {
      const { app, flags } = await createHostApp({ version });
      const names = Array.from({ length: 120 }, (_, index) => `flag-${1000 + index}`);
      await createAll(flags, names);
      expect(await follow(app, FLAGS)).toEqual([names]);
      expect(await follow(app, `${FLAGS}?after=`)).toEqual([names.slice(0, 100), names.slice(100)]);
    });

    it('keeps the other parameters in its links, documented or not', async () => {
      const { app, flags } = await createHostApp({ version });
      await createAll(flags, NAMES);
      const { headers } = await request(app).get(`${FLAGS}?after=a&view=a%26b%20%C3%A4&limit=1&archived=false`);
      expect(headers.link).toBe(`<?after=b&view=a%26b+%C3%A4&limit=1&archived=false>; rel="next"`);
    });

    it('replies 304 to a page only while its last item is the same', async () => {
      const { app, flags } = await createHostApp({ version });
      await createAll(flags, ['a', 'b']);
      const last = await request(app).get(`${FLAGS}?limit=2`).expect(200);
      await createAll(flags, ['c']);
      const longer = await request(app)
        .get(`${FLAGS}?limit=2`)
        .set('If-None-Match', last.headers.etag ?? '');
      expect([longer.status, longer.text]).toEqual([200, last.text]);
      const again = await request(app)
        .get(`${FLAGS}?limit=2`)
        .set('If-None-Match', longer.headers.etag ?? '');
      expect([again.status, again.headers.link]).toEqual([304, longer.headers.link]);
    });

    it('links to the next page for HEAD, too', async () => {
      const { app, flags } = await createHostApp({ version });
      await createAll(flags, NAMES);
      const { headers } = await request(app).head(`${FLAGS}?limit=2`).expect(200);
      expect(headers.link).toBe(`<?limit=2&after=b>; rel="next"`);
    });

    it('is found behind a proxy that strips a prefix, of which the application knows nothing', async () => {
      const { app, flags } = await createHostApp({ version });
      await createAll(flags, NAMES);
      const proxy = express().use('/shop', (sent, response, next) => {
        // Without the prefix, as most proxies send it.
        sent.originalUrl = sent.url;
        app(sent, response, next);
      });
      expect(await follow(proxy, `/shop${FLAGS}?limit=2`)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    });

    it('is refused with the issue of the limit', async () => {
      const { app } = await createHostApp({ version });
      const { body } = await request(app).get(`${FLAGS}?limit=1001`).expect(400);
      expect(body.message).toBe('The input is not valid: /limit must be <= 1000.');
    });

    it('reads pages of tokens, oldest first, with cursors that are not names', async () => {
      const { app, flags } = await createHostApp({ version });
      for (const name of ['one', 'two', 'three']) await flags.tokens.create({ name, kind: 'admin' });
      const names: string[] = [];
      for (let path: string | undefined = '/api/admin/api-tokens?limit=1'; path !== undefined; ) {
        const { body, headers } = await request(app).get(path).expect(200);
        names.push(...body.tokens.map(({ tokenName }: { tokenName: string }) => tokenName));
        path = nextIn(headers.link, path);
      }
      expect(names).toEqual((await flags.tokens.list()).items.map(({ name }) => name));
      expect(names).toHaveLength(3);
    });
  });

  describe('the link to the next page', () => {
    it.each([
      ['/a', 'b', '<?after=b>; rel="next"'],
      ['/a?', 'b', '<?after=b>; rel="next"'],
      ['/a?after=a&after=b&limit=1', 'c', '<?after=c&limit=1>; rel="next"'],
      ['/a?x=1?2', '<ä>"\u{1f600}', '<?x=1%3F2&after=%3C%C3%A4%3E%22%F0%9F%98%80>; rel="next"'],
      ['/a?limit=1#fragment', 'b', '<?limit=1&after=b>; rel="next"'],
      ['/a%2Fb>; rel="x"/c', 'b', '<?after=b>; rel="next"'],
      ['http://host:80/a?limit=1', 'b', '<?limit=1&after=b>; rel="next"'],
    ])('has for %s after %s the target %s', (url, cursor, link) => {
      expect(linkToNext(url, { after: cursor })).toBe(link);
    });
  });

  async function createAll(flags: Flags, names: readonly string[]): Promise<void> {
    for (const name of names) await flags.createFlag(DEFAULT, { name });
  }

  /** The names on each page, from link to link. */
  async function follow(app: Express, start: string): Promise<readonly (readonly string[])[]> {
    const pages: string[][] = [];
    for (let path: string | undefined = start; path !== undefined; ) {
      const { body, headers } = await request(app).get(path).expect(200);
      pages.push(body.features.map(({ name }: { name: string }) => name));
      path = nextIn(headers.link, path);
    }
    return pages;
  }

  /** Resolves the target of a link as clients do: relative to the address that they have asked. */
  function nextIn(link: string | undefined, asked: string): string | undefined {
    const target = /^<([^>]*)>; rel="next"$/.exec(link ?? '')?.[1];
    if (target === undefined) return undefined;
    const { pathname, search } = new URL(target, `http://localhost${asked}`);
    return `${pathname}${search}`;
  }

  describe('a page of large items', () => {
    it('ends at 1 MiB, and the link continues after its last item', async () => {
      const { app, flags } = await createHostApp();
      const values = Array.from({ length: 3_000 }, (_, at) => `${at}`.padStart(100, '0'));
      for (let count = 1; count <= 12; count++) {
        const constraints = [{ contextName: 'userId', operator: 'IN' as const, values }];
        await flags.segments.create({ name: `segment-${count}`, constraints });
      }
      const whole = await request(app).get('/api/admin/segments').expect(200);
      expect(whole.body.segments.map(({ id }: { id: number }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
      const ids: number[] = [];
      for (let path: string | undefined = '/api/admin/segments?limit=1000'; path !== undefined; ) {
        const { text, body, headers } = await request(app).get(path).expect(200);
        expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024);
        ids.push(...body.segments.map(({ id }: { id: number }) => id));
        path = nextIn(headers.link, path);
      }
      expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    });

    it.each(['applications', 'projects'])('ends at 1 MiB for %s, too', async (list) => {
      const { app, flags } = await createHostApp();
      const strategies = Array.from({ length: 600 }, (_, at) => `${at}`.padStart(90, 's'));
      for (let count = 0; count < 30; count++) {
        const name = `one-${count}`.padEnd(100, '-');
        if (list === 'applications') {
          await flags.registerApplication({ application: name, strategies });
        } else await flags.createProject({ id: name, name, description: 'ü'.repeat(1000) });
      }
      const path = list === 'projects' ? '/api/admin/projects' : '/api/admin/metrics/applications';
      const names: string[] = [];
      for (let next: string | undefined = `${path}?limit=1000`; next !== undefined; ) {
        const { text, body, headers } = await request(app).get(next).expect(200);
        expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024);
        names.push(...body[list].map(({ id, appName }: { id?: string; appName?: string }) => id ?? appName));
        next = nextIn(headers.link, next);
      }
      const { body } = await request(app).get(path).expect(200);
      expect(names).toEqual(body[list].map(({ id, appName }: { id?: string; appName?: string }) => id ?? appName));
      expect(names.length).toBeGreaterThanOrEqual(30);
    });
  });
});

describe('queries on the wire', () => {
  const EVENTS = '/api/admin/events';

  describe.each(EXPRESS_VERSIONS)('a query, on Express $major', (version) => {
    it.each([
      ['limit=-1', '/limit'],
      ['limit=1.5', '/limit'],
      ['limit=1e2', '/limit'],
      ['limit=', '/limit'],
      ['limit=x', '/limit'],
      ['limit=1001', '/limit'],
      ['limit=1&limit=2', '/limit'],
      ['offset=-1', '/offset'],
      ['offset=99999999999999999999', '/offset'],
      ['type=flag-created', '/type'],
      ['type=constructor', '/type'],
      ['type=feature-created&type=feature-created', '/type'],
      ['from=yesterday', '/from'],
      ['to=2026-02-30', '/to'],
      ['project=a&project=b', '/project'],
    ])('is refused for ?%s, naming %s', async (query, path) => {
      const { app } = await createHostApp({ version });
      for (const place of [EVENTS, `${EVENTS}/checkout`]) {
        const { body } = await request(app).get(`${place}?${query}`).expect(400);
        expect(body).toMatchObject({ name: 'ValidationError', code: 'invalid_input' });
        expect(new Set(body.details.map((detail: { path: string }) => detail.path))).toEqual(new Set([path]));
      }
    });

    it('is refused with one detail per fault', async () => {
      const { app } = await createHostApp({ version });
      const { body } = await request(app).get(`${EVENTS}?limit=x&offset=y&type=z`).expect(400);
      expect(body.details.map(({ path }: { path: string }) => path).sort()).toEqual(['/limit', '/offset', '/type']);
    });

    it.each([
      'limit[a]=1',
      'limit[]=1',
      '__proto__=1',
      '__proto__[x]=1',
      'constructor=x',
      '%E0=1',
      '&&&',
      '=',
      'nothing',
    ])('is served with the undocumented ?%s', async (query) => {
      const { app } = await createHostApp({ version });
      await request(app).get(`${EVENTS}?${query}`).expect(200);
    });

    it('ends where a fragment begins, which clients should not send', async () => {
      const server = await startLiveServer({ version });
      await server.flags.createFlag({ project: 'default' }, { name: 'a' });
      await server.flags.createFlag({ project: 'default' }, { name: 'b' });
      const ask = (path: string) => askRaw(server.port, { method: 'GET', path });
      expect(await ask(`${EVENTS}?limit=1#fragment`)).toMatchObject({ status: 200 });
      expect((await ask(`${FLAGS}?limit=1#&limit=x`)).text).toContain('"name":"a"');
      expect((await ask(`${FLAGS}#?limit=x`)).text).toContain('"name":"b"');
      await server.stop();
    });

    it('selects archived or active flags', async () => {
      const { app, flags } = await createHostApp({ version });
      await flags.createFlag({ project: 'default' }, { name: 'old' });
      await flags.createFlag({ project: 'default' }, { name: 'new' });
      await flags.archiveFlag({ project: 'default', flag: 'old' });
      const names = async (query: string) => {
        const { body } = await request(app).get(`${FLAGS}${query}`).expect(200);
        return body.features.map(({ name }: { name: string }) => name);
      };
      expect(await names('')).toEqual(['new']);
      expect(await names('?archived=false')).toEqual(['new']);
      expect(await names('?archived=true')).toEqual(['old']);
      for (const bad of ['archived=1', 'archived=', 'archived=true&archived=false']) {
        await request(app).get(`${FLAGS}?${bad}`).expect(400);
      }
    });

    it('filters applications by any of the strategies named, and not by an empty name', async () => {
      const { app, flags } = await createHostApp({ version });
      await flags.registerApplication({ application: 'a', strategies: ['default'] });
      await flags.registerApplication({ application: 'b', strategies: ['userWithId'] });
      await flags.registerApplication({ application: 'c', strategies: [] });
      const names = async (query: string) => {
        const { body } = await request(app).get(`/api/admin/metrics/applications${query}`).expect(200);
        return body.applications.map(({ appName }: { appName: string }) => appName);
      };
      expect(await names('')).toEqual(['a', 'b', 'c']);
      expect(await names('?strategyName=')).toEqual(['a', 'b', 'c']);
      expect(await names('?strategyName=default')).toEqual(['a']);
      expect(await names('?strategyName=default&strategyName=userWithId')).toEqual(['a', 'b']);
      expect(await names('?strategyName=&strategyName=userWithId')).toEqual(['b']);
      expect(await names('?strategyName=constructor')).toEqual([]);
    });
  });
});
