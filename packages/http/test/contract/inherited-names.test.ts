import { memoryStorage } from '@flags/core';
import type { Express } from 'express';
import request, { type Response } from 'supertest';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { createHostApp } from '../host-app.js';
import { NOW, PROJECTS } from './states.js';

const NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'];

describe.each(EXPRESS_VERSIONS)('on Express $major, an inherited name', (version) => {
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

  it.each(NAMES)('such as %s works for the whole lifecycle of a flag', async (name) => {
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

  it('is in every list, in code-point order', async () => {
    const flags = `${PROJECTS}/constructor/features`;
    for (const name of NAMES) await expectStatus(201, request(app).post(flags).send({ name }));
    const list = await expectStatus(200, request(app).get(flags));
    expect(list.body.features.map(({ name }: { name: string }) => name)).toEqual(NAMES);
    const projects = await expectStatus(200, request(app).get(PROJECTS));
    expect(projects.body.projects.map(({ id }: { id: string }) => id)).toEqual([...NAMES, 'default'].toSorted());
    const overview = await expectStatus(200, request(app).get(`${PROJECTS}/constructor`));
    expect(overview.body.features).toHaveLength(NAMES.length);
  });

  it('has members', async () => {
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
