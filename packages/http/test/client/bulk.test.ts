import { memoryStorage, memoryUsage } from '@flags/core';
import { faultyUsage } from '@flags/core/testing';
import request from 'supertest';
import { createHostApp } from '../host-app.js';

const timestamp = new Date().toISOString();
const BULK = {
  applications: [{ appName: 'web', strategies: ['default'] }, { appName: 'shop' }],
  metrics: ['web', 'shop'].map((appName) => ({ appName, featureName: 'checkout', timestamp, yes: 1, no: 0 })),
};

async function host() {
  const usage = faultyUsage(memoryUsage());
  const { app, flags } = await createHostApp({ flags: { storage: memoryStorage(), usage } });
  const send = async () => (await request(app).post('/api/client/metrics/bulk').send(BULK)).status;
  return { usage, flags, send };
}

describe('what a proxy reports in bulk', () => {
  it('counts once when it is repeated because the storage failed, whichever call it was that failed', async () => {
    const { usage, flags, send } = await host();
    // Its second write would be the middle of it.
    const fault = usage.inject({ method: 'record', nth: 2 });
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
