import { memoryStorage } from '@flags/core';
import type { Express } from 'express';
import { array, assert, asyncProperty, constantFrom, integer, nat, option, string } from 'fast-check';
import request, { type Response } from 'supertest';
import { extent } from '../../../../test/extent.js';
import { MEMORY, SQLITE } from '../../../core/test/storage-kinds.js';
import { ROUTES } from '../../src/routes.js';
import { EXPRESS_4, EXPRESS_5, EXPRESS_VERSIONS, EXPRESS_VERSIONS_IN_LENGTH } from '../express-versions.js';
import { createHostApp, type HostApp } from '../host-app.js';
import { type HostileServer, startHostileServer } from './hostile-server.js';
import {
  anyMethod,
  hostileBody,
  hostileHeaders,
  hostilePatch,
  hostileSegment,
  maybeBody,
  nonsenseLength,
} from './hostile-values.js';
import { REQUESTS } from './requests.js';
import { NOW, PROJECTS } from './states.js';

describe('random requests', () => {
  const anyRequest = constantFrom(...REQUESTS);
  const anyWrite = constantFrom(...REQUESTS.filter(({ route }) => route.body !== undefined));
  const anyPatch = constantFrom(...REQUESTS.filter(({ route }) => route.method === 'PATCH'));

  const SERVERS = [
    { storage: MEMORY, version: EXPRESS_5, numRuns: extent({ short: 20, full: 500 }) },
    { storage: SQLITE, version: EXPRESS_4, numRuns: extent({ short: 5, full: 100 }) },
  ] as const;
  const JSON_TYPE = ['content-type', 'application/json'] as const;

  describe.each(SERVERS)('a server on $storage.name', ({ storage, version, numRuns }) => {
    let server: HostileServer;

    beforeEach(async () => {
      server = await startHostileServer(version, storage);
    });

    afterEach(async () => {
      await server.expectAlive().finally(server.stop);
    });

    it('survives any body', async () => {
      const property = asyncProperty(anyWrite, hostileBody, async ({ request }, body) => {
        await server.attack({ method: request.method, path: request.path, headers: [JSON_TYPE], body });
      });
      await assert(property, { numRuns });
    }, 120_000);

    it('survives any JSON Patch', async () => {
      const property = asyncProperty(anyPatch, hostilePatch, async ({ request }, body) => {
        await server.attack({ method: request.method, path: request.path, headers: [JSON_TYPE], body });
        expect(Object.keys(Object.prototype)).toEqual([]);
      });
      await assert(property, { numRuns });
    }, 120_000);

    it('survives any name in an address', async () => {
      const property = asyncProperty(
        anyRequest,
        array(hostileSegment, { minLength: 5, maxLength: 5 }),
        async (sample, names) => {
          const rest = [...names];
          const path = sample.route.path.replaceAll(/:\w+/g, () => rest.pop() ?? 'x');
          const { method, body } = sample.request;
          await server.attack({ method, path, headers: [JSON_TYPE], body: JSON.stringify(body) ?? '' });
        },
      );
      await assert(property, { numRuns });
    }, 120_000);

    it('survives any address and method', async () => {
      const tail = string({ unit: 'grapheme-ascii', maxLength: 40 }).map((text) => text.replaceAll(/[\s#]/g, '/'));
      const head = constantFrom(
        '/api/admin/',
        '/api/client/',
        '/api/frontend',
        '/ofrep/v1/evaluate/flags/',
        '/api/admin/projects/',
        '/api/admin/projects/default/features/',
        '//',
        '/',
      );
      const property = asyncProperty(anyMethod, head, tail, maybeBody, async (method, start, end, body) => {
        await server.attack({ method, path: `${start}${end}`, headers: [JSON_TYPE], body: body ?? '' });
      });
      await assert(property, { numRuns, examples: [['OPTIONS', '/api/admin/projects/', '%', null]] });
    }, 120_000);

    it('survives any headers', async () => {
      const property = asyncProperty(anyRequest, hostileHeaders, async ({ request }, headers) => {
        const { method, path, body } = request;
        await server.attack({ method, path, headers, body: JSON.stringify(body) ?? '' });
      });
      await assert(property, { numRuns });
    }, 120_000);

    it('survives a content length above the body length when the client disconnects', async () => {
      const property = asyncProperty(anyWrite, integer({ min: 1, max: 2 ** 53 - 1 }), async ({ request }, missing) => {
        const { method, path, body } = request;
        const text = JSON.stringify(body) ?? '';
        const headers = [JSON_TYPE, ['content-length', `${text.length + missing}`]] as const;
        await server.attack({ method, path, headers, body: text }, 'leave');
      });
      await assert(property, { numRuns });
    }, 120_000);

    it('survives a content length that is too small or invalid', async () => {
      const property = asyncProperty(anyWrite, nat(), option(nonsenseLength), async ({ request }, cut, nonsense) => {
        const { method, path, body } = request;
        const text = JSON.stringify(body ?? { userId: 2 });
        const length = nonsense ?? `${1 + (cut % (text.length - 1))}`;
        const headers = [JSON_TYPE, ['content-length', length]] as const;
        const { status } = await server.attack({ method, path, headers, body: text });
        expect(status).toBeGreaterThanOrEqual(400);
      });
      await assert(property, { numRuns });
    }, 120_000);
  });
});

describe('inherited names', () => {
  const NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'];

  describe.each(EXPRESS_VERSIONS)('an inherited name, on Express $major,', (version) => {
    let app: Express;

    /** An instance in which projects, environments and flags all have such names. */
    beforeEach(async () => {
      const environments = NAMES.map((name) => ({ name }));
      ({ app } = await createHostApp({
        version,
        flags: { storage: memoryStorage(), environments, now: () => new Date(NOW) },
      }));
      for (const id of NAMES) await expectStatus(201, request(app).post(PROJECTS).send({ id, name: id }));
    });

    async function expectStatus(status: number, response: Promise<Response>): Promise<Response> {
      const answer = await response;
      expect([answer.status, answer.status === status ? '' : answer.text]).toEqual([status, '']);
      return answer;
    }

    it.each(NAMES)('works for the whole lifecycle of a flag: %s', async (name) => {
      const flags = `${PROJECTS}/${name}/features`;
      const flag = `${flags}/${name}`;
      const strategies = `${flag}/environments/${name}/strategies`;
      await expectStatus(201, request(app).post(flags).send({ name }));
      await expectStatus(409, request(app).post(flags).send({ name }));
      await expectStatus(200, request(app).put(flag).send({ name, description: name }));
      await expectStatus(
        200,
        request(app)
          .patch(flag)
          .send([{ op: 'replace', path: '/stale', value: true }]),
      );
      await expectStatus(409, request(app).post(`${flag}/environments/${name}/on`));
      const added = await expectStatus(
        200,
        request(app)
          .post(strategies)
          .send(JSON.parse(`{"name":"${name}","parameters":{"${name}":"x"}}`)),
      );
      expect(Object.entries(JSON.parse(added.text).parameters)).toEqual([[name, 'x']]);
      const strategy = `${strategies}/${added.body.id}`;
      await expectStatus(
        200,
        request(app)
          .patch(strategy)
          .send([{ op: 'replace', path: `/parameters/${name}`, value: 'y' }]),
      );
      await expectStatus(200, request(app).put(strategy).send({ name }));
      await expectStatus(200, request(app).post(`${flag}/environments/${name}/on`));
      await expectStatus(200, request(app).put(`${flag}/variants`).send([{ name }]));
      await expectStatus(
        200,
        request(app)
          .patch(`${flag}/variants`)
          .send([{ op: 'add', path: '/-', value: { name: 'other' } }]),
      );
      const detail = await expectStatus(200, request(app).get(flag));
      expect(detail.body).toMatchObject({
        name,
        project: name,
        description: name,
        variants: [{ name }, { name: 'other' }],
      });
      expect(detail.body.environments).toHaveLength(NAMES.length);
      expect(detail.body.environments.find((one: { name: string }) => one.name === name)).toMatchObject({
        enabled: true,
      });
      await expectStatus(
        201,
        request(app)
          .post(`${flag}/clone`)
          .send({ name: `${name}-copy` }),
      );
      await expectStatus(200, request(app).post(`${flag}/environments/${name}/off`));
      await expectStatus(200, request(app).delete(strategy));
      await expectStatus(202, request(app).delete(flag));
      await expectStatus(200, request(app).post(`/api/admin/archive/revive/${name}`));
      await expectStatus(202, request(app).delete(flag));
      const archive = await expectStatus(200, request(app).get(`/api/admin/archive/features/${name}`));
      expect(archive.body.features).toMatchObject([{ name, project: name }]);
      await expectStatus(200, request(app).delete(`/api/admin/archive/${name}`));
      await expectStatus(404, request(app).get(flag));
      const events = await expectStatus(200, request(app).get(`/api/admin/events/${name}`));
      expect(events.body.events[0]).toMatchObject({ type: 'feature-deleted', featureName: name, project: name });
    });

    it('appears in every list, in code-point order', async () => {
      const flags = `${PROJECTS}/constructor/features`;
      for (const name of NAMES) await expectStatus(201, request(app).post(flags).send({ name }));
      const list = await expectStatus(200, request(app).get(flags));
      expect(list.body.features.map(({ name }: { name: string }) => name)).toEqual(NAMES);
      const projects = await expectStatus(200, request(app).get(PROJECTS));
      expect(projects.body.projects.map(({ id }: { id: string }) => id)).toEqual([...NAMES, 'default'].toSorted());
      const overview = await expectStatus(200, request(app).get(`${PROJECTS}/constructor`));
      expect(overview.body.features).toHaveLength(NAMES.length);
    });

    it('is accepted for a project with members', async () => {
      for (const project of NAMES) {
        const users = `${PROJECTS}/${project}/users`;
        await expectStatus(200, request(app).post(`${users}/1/roles/4`).send({ projectId: project }));
        await expectStatus(400, request(app).delete(`${users}/1/roles/4`));
        expect((await request(app).get(users)).body.users).toEqual([{ id: 1, roleId: 4 }]);
      }
    });

    it('is counted in every metric, for flags and applications', async () => {
      const toggles = `{${NAMES.map((name) => `"${name}":{"yes":1,"no":2}`).join(',')}}`;
      for (const appName of NAMES) {
        const registration = { appName, strategies: NAMES, started: NOW, interval: 1 };
        await expectStatus(202, request(app).post('/api/client/register').send(registration));
        const report = `{"appName":"${appName}","bucket":{"start":"${NOW}","stop":"${NOW}","toggles":${toggles}}}`;
        const pending = request(app).post('/api/client/metrics').set('content-type', 'application/json').send(report);
        await expectStatus(202, pending);
      }
      const metrics = '/api/admin/metrics';
      const counts = JSON.parse((await request(app).get(`${metrics}/feature-toggles`)).text);
      const expected = NAMES.map((name) => [name, { yes: 4, no: 8 }]);
      expect(Object.entries(counts.lastMinute)).toEqual(expected);
      expect(Object.entries(counts.lastHour)).toEqual(expected);
      const seen = (await request(app).get(`${metrics}/seen-toggles`)).body;
      expect(seen).toEqual(NAMES.map((appName) => ({ appName, seenToggles: NAMES, metricsCount: 12 })));
      const byFlag = JSON.parse((await request(app).get(`${metrics}/seen-apps`)).text);
      expect(Object.keys(byFlag)).toEqual(NAMES);
      for (const name of NAMES) {
        const byStrategy = (await request(app).get(`${metrics}/applications?strategyName=${name}`)).body;
        expect(byStrategy.applications).toHaveLength(NAMES.length);
        const detail = (await request(app).get(`${metrics}/applications/${name}`)).body;
        expect(detail).toMatchObject({ appName: name, seenToggles: NAMES });
      }
    });
  });
});

describe('prototypes', () => {
  const NAMES = extent({
    short: ['__proto__'],
    full: ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'],
  });
  const INHERITED = [Object.prototype, Array.prototype, String.prototype, Function.prototype];

  const QUERIES = NAMES.flatMap((name) => [
    `${name}=polluted`,
    `${name}[polluted]=polluted`,
    `properties[${name}]=polluted`,
    `properties[${name}][polluted]=polluted`,
    `constructor[${name}][polluted]=polluted`,
    `userId=${name}&project=${name}&namePrefix=${name}&type=${name}&environment=${name}&strategyName=${name}`,
  ]);

  /** In the short form every route gets one, the next route the next one. */
  const queriesOf = (route: number) =>
    extent({ short: QUERIES.slice(route % QUERIES.length).slice(0, 1), full: QUERIES });

  const BODY =
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"name":{"__proto__":{"polluted":1}}}';

  describe.each(EXPRESS_VERSIONS_IN_LENGTH)('a request, on Express $major,', (version) => {
    const routes = ROUTES.filter(({ form }) => form?.media === undefined);

    let host: HostApp;

    beforeAll(async () => {
      host = await createHostApp({ version });
    });

    afterAll(() => host.flags.close());

    it.each(routes.map((route, at) => [`${route.method} ${route.path}`, route, at] as const))(
      'changes no prototype by %s',
      async (_, { method, path }, at) => {
        const { app, faults } = host;
        const before = INHERITED.map((prototype) => Object.getOwnPropertyNames(prototype));
        const verb = method.toLowerCase() as 'post';
        const statuses: number[] = [];
        for (const name of NAMES) {
          const address = path.replaceAll(/:\w+/g, encodeURIComponent(name));
          const asked = request(app)[verb](address).set({
            'if-match': name,
            'if-none-match': name,
            'last-event-id': name,
            'x-forwarded-for': name,
            cookie: name,
          });
          if (method !== 'GET') asked.set('content-type', 'application/json').send(BODY);
          statuses.push((await asked).status);
        }
        if (method === 'GET')
          for (const query of queriesOf(at)) statuses.push((await request(app).get(`${path}?${query}`)).status);
        expect(statuses.filter((status) => status >= 500)).toEqual([]);
        expect(faults).toEqual([]);
        expect(INHERITED.map((prototype) => Object.getOwnPropertyNames(prototype))).toEqual(before);
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      },
    );
  });
});
