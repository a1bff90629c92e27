import request from 'supertest';
import { createHostApp, type HostApp } from '../host-app.js';
import { EVALUATE, switchOn } from './states.js';

describe('all flags by OFREP', () => {
  let host: HostApp;

  beforeEach(async () => {
    host = await createHostApp();
    await switchOn(host.flags, 'checkout', { users: 'ada' });
  });

  afterEach(() => host.flags.close());

  const ask = (targetingKey: string, etag = '') =>
    request(host.app).post(EVALUATE).set('if-none-match', etag).send({ context: { targetingKey } });

  it('are not sent again while nothing has changed for the context', async () => {
    const { headers } = await ask('ada').expect(200);
    const again = await ask('ada', headers.etag).expect(304);
    expect(again.text).toBe('');
    expect(again.headers.etag).toBe(headers.etag);
    await ask('ada', `W/${headers.etag}`).expect(304);
    await ask('ada', '*').expect(304);
  });

  it('are not sent again either if they exceed 1 MiB', async () => {
    const description = 'd'.repeat(10);
    const named = (number: number) => ({ name: `${'flag-'.repeat(19)}${number}`, project: 'default', description });
    await host.flags.importDefinitions({
      version: 1,
      flags: Array.from({ length: 6000 }, (_, at) => named(at + 1000)),
    });
    const { headers, body, text } = await ask('ada').expect(200);
    expect(text.length).toBeGreaterThan(1024 * 1024);
    expect(body.flags).toHaveLength(6001);
    expect(body.flags.at(-1)).toMatchObject({ key: named(6999).name, value: false, reason: 'DISABLED' });
    expect(headers['content-length']).toBe(`${text.length}`);
    await ask('ada', headers.etag).expect(304);
  });

  it('are sent again after a flag changes', async () => {
    const { headers } = await ask('ada').expect(200);
    await host.flags.disable({ project: 'default', flag: 'checkout', environment: 'production' });
    const { body } = await ask('ada', headers.etag).expect(200);
    expect(body.flags).toMatchObject([{ key: 'checkout', value: false, reason: 'DISABLED' }]);
  });

  it('are sent again for a context with other results', async () => {
    const { headers } = await ask('ada').expect(200);
    const { body } = await ask('bob', headers.etag).expect(200);
    expect(body.flags).toMatchObject([{ key: 'checkout', value: false, reason: 'DISABLED' }]);
  });

  it('may be empty', async () => {
    await host.flags.archiveFlag({ project: 'default', flag: 'checkout' });
    const { body } = await ask('ada').expect(200);
    expect(body).toEqual({ flags: [] });
  });
});
