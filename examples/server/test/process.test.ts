import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type IncomingMessage, type RequestListener, request, type Server } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { extent } from '../../../test/extent.js';
import { until } from '../../../test/until.js';
import { closeServer } from '../src/close-server.js';
import { listen, urlOf } from '../src/listen.js';
import { TIMEOUTS, type Timeouts } from '../src/timeouts.js';
import { adminClient } from './admin-client.js';
import { databaseOfEachTest } from './database-file.js';
import { COMPILED, endAll, runToEnd, type ServerProcess, startServer } from './server-process.js';

describe('a server that cannot start', () => {
  const database = databaseOfEachTest();

  const wrong: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['HOST', { HOST: '192.0.2.1' }],
    ['PORT', { PORT: 'http' }],
    ['FLAGS_AUTH', { FLAGS_AUTH: 'basic' }],
    ['FLAGS_ADMIN_TOKEN', { FLAGS_ADMIN_TOKEN: 'two words' }],
  ];
  it.each(extent({ short: wrong.slice(0, 2), full: wrong }))(
    'says in one line that %s must be corrected',
    async (variable, environment) => {
      await expectOneLine(variable, { FLAGS_DB: ':memory:', ...environment });
    },
  );

  it('says in one line that the database is in a directory that does not exist', async () => {
    await expectOneLine('FLAGS_DB', { FLAGS_DB: join(database.directory, 'missing', 'flags.db') });
  });

  it('says in one line that the database is another kind of file', async () => {
    const notes = join(database.directory, 'notes.txt');
    await writeFile(
      notes,
      'This is not a database, and long enough that nobody could take it for an empty one.\n'.repeat(20),
    );
    await expectOneLine('FLAGS_DB', { FLAGS_DB: notes });
  });

  it('says in one line that the port is in use', async () => {
    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const { port } = occupant.address() as AddressInfo;
    await expectOneLine('PORT', { FLAGS_DB: ':memory:', PORT: String(port) });
    occupant.close();
  });

  async function expectOneLine(variable: string, environment: Readonly<Record<string, string>>): Promise<void> {
    const { code, printed } = await runToEnd(environment);
    expect(printed.trimEnd().split('\n')).toEqual([expect.stringMatching(new RegExp(`^${variable}[: ].{20,}`))]);
    expect(code).toBe(1);
  }
});

describe('the change requests of a server', () => {
  afterEach(endAll);

  it('are applied at their time', async () => {
    const secret = 'admin-secret-of-at-least-32-characters';
    const server = await startServer({ FLAGS_DB: ':memory:', FLAGS_ADMIN_TOKEN: secret });
    const admin = adminClient(server.url, secret);
    await admin.createFlag('checkout');
    const changes = [{ op: 'archiveFlag', ref: { project: 'default', flag: 'checkout' } }];
    const at = new Date(Date.now() + 300).toISOString();
    const made = await admin.post('/api/admin/change-requests', { changes, at });
    expect(made.status).toBe(201);
    const { id } = (await made.json()) as { readonly id: string };
    const stateOf = async () =>
      ((await (await admin.get(`/api/admin/change-requests/${id}`)).json()) as { state: string }).state;
    await until(async () => (await stateOf()) === 'applied');
  });
});

describe('the environment of evaluations', () => {
  const set = [{ FLAGS_ENVIRONMENT: 'development' }, 'development'] as const;

  it.each(extent({ short: [set], full: [[{}, 'production'] as const, set] }))(
    'is logged and shown at the start: %j',
    async (environment, name) => {
      const server = await startServer({ FLAGS_DB: ':memory:', ...environment });
      expect(server.log().find(({ msg }) => msg === 'listening')).toMatchObject({ environment: name });
      expect(server.printed()).toContain(`Evaluates ${name} unless a token names another environment`);
      await server.end('SIGTERM');
    },
  );

  it('is one that exists', async () => {
    const { code, printed } = await runToEnd({ FLAGS_DB: ':memory:', FLAGS_ENVIRONMENT: 'staging' });
    expect([code, printed]).toEqual([1, 'FLAGS_ENVIRONMENT must be "development" or "production", not "staging".\n']);
  });
});

describe('stopping', () => {
  const ENVIRONMENT = { FLAGS_DB: ':memory:', FLAGS_AUTH: 'none' };

  afterEach(endAll);

  describe('a server that gets a stop signal', () => {
    it.each(extent({ short: ['SIGTERM'], full: ['SIGTERM', 'SIGINT'] } as const))(
      'ends with 0 on %s',
      async (signal) => {
        const server = await startServer(ENVIRONMENT, {}, COMPILED);
        await fetch(`${server.url}/health`);
        expect(await server.end(signal)).toBe(0);
        expect(server.log().slice(-2)).toMatchObject([{ msg: 'stopping', signal }, { msg: 'stopped' }]);
      },
    );

    it('finishes the running request, and accepts no more', async () => {
      const server = await startServer(ENVIRONMENT);
      const finish = await beginCreation(server, 'begun-before-the-signal');
      server.send('SIGTERM');
      await refusing(server.url);
      const response = await finish();
      expect(response.statusCode).toBe(201);
      expect(await server.exit).toBe(0);
    });

    it('ends the streams, which would otherwise never end', async () => {
      const server = await startServer(ENVIRONMENT);
      const stream = await fetch(`${server.url}/api/client/streaming`);
      let text = '';
      for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        // A stream that still sends its first message would be cut off.
        if (text.endsWith('\n\n')) server.send('SIGTERM');
      }
      expect(text).toContain('event:unleash-connected');
      expect(await server.exit).toBe(0);
    });

    it('ends at once at the second signal', async () => {
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
    it('disconnects a request that does not finish in time', async () => {
      const server = await listen(() => undefined, { port: 0, host: '127.0.0.1', maxConnections: 10 });
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
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        expect: '100-continue',
      },
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
});

describe('a client of the reference server', () => {
  const CONFIG = { port: 0, host: '127.0.0.1', maxConnections: 1 };
  /** Far longer than a test takes. */
  const NEVER: Timeouts = { head: 600_000, request: 600_000, silence: 600_000, check: 10 };
  /** More than the buffers of both ends of a connection hold. */
  const LARGE = Buffer.alloc(64 * 1024 * 1024);

  let server: Server;
  let socket: Socket;

  async function begin(timeouts: Partial<Timeouts>, text: string): Promise<void> {
    const app: RequestListener = (request, response) => {
      request.resume().on('end', () => response.end(LARGE));
    };
    server = await listen(app, CONFIG, { ...NEVER, ...timeouts });
    socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(text);
  }

  /** Returns the response to a reading client after its disconnection. */
  async function answer(): Promise<string> {
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
    });
    socket.resume();
    await once(socket, 'close');
    return text;
  }

  afterEach(async () => {
    socket.destroy();
    server.close();
    await once(server, 'close');
  });

  it('gets 408 if it does not finish its head', async () => {
    await begin({ head: 50 }, 'GET /health HTTP/1.1\r\nhost: ');
    expect(await answer()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('gets 408 if it does not finish its body', async () => {
    await begin({ request: 50, head: 50 }, 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n12345');
    expect(await answer()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('is disconnected if it does not read its answer', async () => {
    await begin({ silence: 50 }, 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    socket.pause();
    const [connection] = (await once(server, 'connection')) as [Socket];
    await once(connection, 'close');
    expect((await answer()).length).toBeLessThan(LARGE.length);
  });

  it('is refused beyond the maximum number of connections', async () => {
    await begin({}, 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await once(server, 'connection');
    const refused = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    const [dropped] = await Promise.all([once(server, 'drop'), once(refused, 'close')]);
    expect(dropped).toEqual([expect.objectContaining({ remoteAddress: '127.0.0.1' })]);
  });

  it('receives heartbeats on a stream before it would be disconnected for silence', () => {
    const heartbeatInterval = 15_000;
    expect(TIMEOUTS.silence).toBeGreaterThan(2 * heartbeatInterval);
  });
});
