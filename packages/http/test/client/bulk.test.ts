import { memoryMetrics, memoryStorage } from '@flags/core';
import { faultyMetrics } from '@flags/core/testing';
import request from 'supertest';
import { createHostApp } from '../host-app.js';

const timestamp = new Date().toISOString();
const BULK = {
  applications: [{ appName: 'web', strategies: ['default'] }, { appName: 'shop' }],
  metrics: ['web', 'shop'].map((appName) => ({ appName, featureName: 'checkout', timestamp, yes: 1, no: 0 })),
};

async function host() {
  const metrics = faultyMetrics(memoryMetrics());
  const { app, flags } = await createHostApp({ flags: { storage: memoryStorage(), metrics } });
  const send = async () => (await request(app).post('/api/client/metrics/bulk').send(BULK)).status;
  return { metrics, flags, send };
}

describe('a bulk report of a proxy', () => {
  it('counts once when it is repeated after a storage failure, whichever call failed', async () => {
    const { metrics, flags, send } = await host();
    // Its second write would be the middle of it.
    const fault = metrics.inject({ method: ['record', 'register'], nth: 2 });
    expect(await send()).toBe(202);
    expect(fault.strikes()).toBe(0);
    expect(await send()).toBe(503);
    expect((await flags.countEvaluations()).lastHour.get('checkout')).toEqual({ yes: 2, no: 0 });
    expect(await send()).toBe(202);
    expect((await flags.countEvaluations()).lastHour.get('checkout')).toEqual({ yes: 4, no: 0 });
    expect(await flags.listApplications()).toMatchObject([{ appName: 'shop' }, { strategies: ['default'] }]);
    await flags.close();
  });
});
