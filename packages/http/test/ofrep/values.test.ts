import { createFlags, memoryStorage, memoryUsage, type Payload } from '@flags/core';
import request from 'supertest';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { createHostApp } from '../host-app.js';
import { EVALUATE, switchOn } from './states.js';

const METADATA = { project: 'default', type: 'release', enabled: true, stale: false, impressionData: false };

describe.each(EXPRESS_VERSIONS)('a flag by OFREP, upon Express $major', (version) => {
  it.each<[unknown, Payload]>([
    ['#00f', { type: 'string', value: '#00f' }],
    ['a,b', { type: 'csv', value: 'a,b' }],
    [7.5, { type: 'number', value: '7.5' }],
    [{ a: [1] }, { type: 'json', value: '{"a":[1]}' }],
    [[1, 2], { type: 'json', value: '[1,2]' }],
    [false, { type: 'json', value: 'false' }],
  ])('has the value %j by its payload %j', async (value, payload) => {
    const { app, flags } = await createHostApp({ version });
    await switchOn(flags, 'checkout', { payload });
    const { body } = await request(app).post(`${EVALUATE}/checkout`).send({}).expect(200);
    expect(body).toEqual({ key: 'checkout', value, reason: 'STATIC', variant: 'blue', metadata: METADATA });
    await flags.close();
  });

  it.each(['null', '['.repeat(5000) + ']'.repeat(5000)])(
    'is on by the payload %.10s, which holds no value',
    async (value) => {
      const { app, flags } = await createHostApp({ version });
      await switchOn(flags, 'checkout', { payload: { type: 'json', value } });
      for (const path of [`${EVALUATE}/checkout`, EVALUATE]) {
        const { body } = await request(app).post(path).send({}).expect(200);
        expect(body.flags?.[0] ?? body).toMatchObject({ key: 'checkout', value: true, variant: 'blue' });
      }
      await flags.close();
    },
  );

  it('is a boolean without a payload', async () => {
    const { app, flags } = await createHostApp({ version });
    await switchOn(flags, 'checkout');
    await flags.createFlag({ project: 'default' }, { name: 'basket' });
    const { body } = await request(app)
      .post(EVALUATE)
      .send({ context: { targetingKey: 'ada' } })
      .expect(200);
    expect(body).toEqual({
      flags: [
        { key: 'basket', value: false, reason: 'DISABLED', metadata: { ...METADATA, enabled: false } },
        { key: 'checkout', value: true, reason: 'STATIC', metadata: METADATA },
      ],
    });
    await flags.close();
  });

  it('counts, alone and among all that the caller may see', async () => {
    const usage = memoryUsage();
    const { app, flags } = await createHostApp({ version, flags: { usage } });
    await switchOn(flags, 'alone');
    await switchOn(flags, 'among');
    await request(app).post(EVALUATE).send({}).expect(200);
    await request(app).post(`${EVALUATE}/alone`).send({}).expect(200);
    await flags.close();
    const reader = await createFlags({ storage: memoryStorage(), usage });
    expect([...(await reader.countEvaluations()).lastHour]).toEqual([
      ['alone', { yes: 2, no: 0 }],
      ['among', { yes: 1, no: 0 }],
    ]);
    await reader.close();
  });
});
