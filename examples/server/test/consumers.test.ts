import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from '../../../test/until.js';
import { adminClient } from './admin-client.js';
import { endAll, runToEnd, startServer } from './server-process.js';

const ADMIN = 'admin-secret-of-at-least-32-characters';
const KEY = Buffer.alloc(32, 7);
const SECRET = `whsec_${KEY.toString('base64')}`;

describe('the consumers of a server', () => {
  const received: {
    readonly path: string | undefined;
    readonly headers: IncomingHttpHeaders;
    readonly body: string;
  }[] = [];
  let receiver: Server;
  let address: string;

  beforeAll(async () => {
    receiver = createServer(async (request, response) => {
      received.push({ path: request.url, headers: request.headers, body: await text(request) });
      response.end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  });

  afterAll(async () => {
    await endAll();
    receiver.closeAllConnections();
    receiver.close();
  });

  it('send each change to a webhook, signed, and to Slack', async () => {
    const server = await startServer({
      FLAGS_DB: ':memory:',
      FLAGS_ADMIN_TOKEN: ADMIN,
      FLAGS_WEBHOOK_URL: `${address}/hooks`,
      FLAGS_WEBHOOK_SECRET: SECRET,
      FLAGS_SLACK_URL: `${address}/slack`,
    });
    const admin = adminClient(server.url, ADMIN);
    await admin.createFlag('checkout');
    const of = (path: string) => received.find((one) => one.path === path && one.body.includes('checkout'));
    await until(() => of('/hooks') !== undefined && of('/slack') !== undefined);

    const { headers = {} as IncomingHttpHeaders, body = '' } = of('/hooks') ?? {};
    expect(JSON.parse(body)).toMatchObject({ type: 'feature-created', data: { featureName: 'checkout' } });
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const signature = createHmac('sha256', KEY).update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signature}`);

    const { consumers } = (await (await admin.get('/api/admin/consumers')).json()) as {
      readonly consumers: readonly { readonly name: string; readonly error: string | null }[];
    };
    expect(consumers.map(({ name, error }) => [name, error])).toEqual([
      ['slack', null],
      ['webhook', null],
    ]);
    expect(await server.end('SIGTERM')).toBe(0);
  });

  it.each([
    ['FLAGS_WEBHOOK_SECRET', { FLAGS_WEBHOOK_URL: 'https://example.org/hooks' }],
    [
      'FLAGS_WEBHOOK_URL, FLAGS_WEBHOOK_SECRET',
      { FLAGS_WEBHOOK_URL: 'https://example.org/hooks', FLAGS_WEBHOOK_SECRET: 'whsec_short' },
    ],
  ])('are refused in one line that names %s', async (variables, environment) => {
    const { code, printed } = await runToEnd({ FLAGS_DB: ':memory:', ...environment });
    const lines = printed.trimEnd().split('\n');
    expect(lines.filter((line) => line.includes(variables))).toHaveLength(1);
    expect(printed).not.toContain('whsec_short');
    expect(code).toBe(1);
  });
});
