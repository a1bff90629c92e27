import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { until } from '../../../test/until.js';
import { closeServer } from '../src/close-server.js';
import { listen, urlOf } from '../src/listen.js';
import { endAll, type ServerProcess, startServer } from './server-process.js';

const ENVIRONMENT = { FLAGS_DB: ':memory:', FLAGS_AUTH: 'none' };

afterEach(endAll);

describe('a server that is told to stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('ends with 0 on %s', async (signal) => {
    const server = await startServer(ENVIRONMENT);
    await fetch(`${server.url}/health`);
    expect(await server.end(signal)).toBe(0);
    expect(server.log().slice(-2)).toMatchObject([{ msg: 'stopping', signal }, { msg: 'stopped' }]);
  });

  it('finishes the request under way, and takes no more', async () => {
    const server = await startServer(ENVIRONMENT);
    const finish = await beginCreation(server, 'begun-before-the-signal');
    server.send('SIGTERM');
    await refusing(server.url);
    const response = await finish();
    expect(response.statusCode).toBe(201);
    expect(await server.exit).toBe(0);
  });

  it('ends the streams, which would go on for ever', async () => {
    const server = await startServer(ENVIRONMENT);
    const stream = await fetch(`${server.url}/api/client/streaming`);
    const text = stream.text();
    server.send('SIGTERM');
    expect(await text).toContain('event:unleash-connected');
    expect(await server.exit).toBe(0);
  });

  it('ends at once when it is told a second time', async () => {
    const server = await startServer(ENVIRONMENT);
    await beginCreation(server, 'never-finished');
    server.send('SIGTERM');
    await refusing(server.url);
    const again = setInterval(() => server.send('SIGTERM'), 100);
    expect(await server.exit).toBe(1);
    clearInterval(again);
  });
});

describe('closing a server', () => {
  it('cuts off a request that does not finish in time', async () => {
    const server = await listen(() => undefined, { port: 0, host: '127.0.0.1' });
    const answer = fetch(urlOf(server)).then(
      () => 'answered',
      () => 'cut off',
    );
    await once(server, 'request');
    await closeServer(server, 1);
    expect(await answer).toBe('cut off');
  });
});

/** Sends half a request, and resolves when the server has it to a function that sends the rest. */
async function beginCreation(server: ServerProcess, name: string) {
  const body = JSON.stringify({ name });
  const sent = request(`${server.url}/api/admin/projects/default/features`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), expect: '100-continue' },
  });
  sent.on('error', () => undefined);
  sent.flushHeaders();
  await once(sent, 'continue');
  sent.write(body.slice(0, 5));
  return async (): Promise<IncomingMessage> => {
    sent.end(body.slice(5));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response;
  };
}

/** Resolves when new connections are refused. */
function refusing(url: string): Promise<void> {
  return until(() =>
    fetch(`${url}/health`).then(
      (response) => !response.ok,
      () => true,
    ),
  );
}
