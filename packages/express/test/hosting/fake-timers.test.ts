import { until } from '../../../../test/until.js';
import { type LiveServer, startLiveServer } from '../../../http/test/client/live-server.js';
import { askRaw } from '../../../http/test/contract/raw-client.js';
import { EXPRESS_VERSIONS } from '../../../http/test/express-versions.js';
import { openRaw } from '../../../http/test/faults/raw-requests.js';
import { FLAGS } from '../../../http/test/host-app.js';

describe.each(EXPRESS_VERSIONS)("while a host's tests stop the timers, on Express $major", (version) => {
  let server: LiveServer;

  beforeEach(async () => {
    server = await startLiveServer({ version });
    jest.useFakeTimers();
  });

  afterEach(async () => {
    jest.useRealTimers();
    await server.stop();
  });

  it('reads and changes are answered', async () => {
    expect(await askRaw(server.port, { method: 'GET', path: FLAGS })).toMatchObject({ status: 200 });
    const headers = [['content-type', 'application/json']] as const;
    const creation = { method: 'POST', path: FLAGS, headers, body: '{"name":"checkout"}' };
    expect(await askRaw(server.port, creation)).toMatchObject({ status: 201 });
  });

  it('streams tell of changes', async () => {
    const client = await openRaw(server.port);
    client.write('GET /api/client/streaming HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await until(() => client.received().includes('hydration'));
    await server.flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await until(() => client.received().includes('checkout'));
    client.breakOff();
  });
});
