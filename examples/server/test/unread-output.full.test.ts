import { closeSync, openSync } from 'node:fs';
import { Writable } from 'node:stream';
import { until } from '../../../test/until.js';
import { fileOutput, streamOutput } from '../src/log-output.js';
import { endAll, type ServerProcess, startServer } from './server-process.js';

/** Makes about 3 MB of log: several times the buffers of the pipe and the server. */
const FLOOD = { requests: 400, padding: 8_000 };

afterEach(endAll);

describe('a server whose standard output is a pipe that nobody reads', () => {
  it('keeps answering, and counts the lines that it drops', async () => {
    const server = await startServer({ FLAGS_DB: ':memory:', FLAGS_AUTH: 'none' });
    server.pauseReading();
    expect(await flood(server)).toEqual({ 404: FLOOD.requests });
    server.resumeReading();
    await until(() => droppedLines(server) > 0);
    expect(droppedLines(server) + requestLines(server)).toBe(FLOOD.requests);
    await fetch(`${server.url}/health`);
    await until(() => server.log().at(-1)?.req?.url === '/health');
  });

  it('ends on SIGTERM nevertheless', async () => {
    const server = await startServer({ FLAGS_DB: ':memory:', FLAGS_AUTH: 'none' });
    server.pauseReading();
    await flood(server);
    server.send('SIGTERM');
    await until(() => !isRunning(server.pid));
    server.resumeReading();
    expect(await server.exit).toBe(0);
  });
});

describe('the output of the log', () => {
  it('reports how many lines are missing before the next line', () => {
    const { stream, taken, takeOne } = slowReader();
    const output = streamOutput(stream, 20);
    for (const line of ['line 1\n', 'line 2\n', 'line 3\n', 'line 4\n']) output.write(line);
    while (stream.writableLength > 0) takeOne();
    output.write('line 5\n');
    while (stream.writableLength > 0) takeOne();
    expect(taken).toEqual(['line 1\n', 'line 2\n', expect.stringContaining('"dropped":2'), 'line 5\n']);
  });

  it('keeps nothing after its reader has closed the pipe', async () => {
    const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
    const output = streamOutput(stream);
    output.write('line 1\n');
    await output.flush(1_000);
    output.write('line 2\n');
    expect(stream.writableLength).toBe(0);
  });

  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux('drops a line that does not fit on the disk', () => {
    const file = openSync('/dev/full', 'w');
    expect(() => fileOutput(file).write('line 1\n')).not.toThrow();
    closeSync(file);
  });
});

/** Sends requests with long addresses, twenty at a time, and counts the answers by status. */
async function flood({ url }: ServerProcess): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  let sent = 0;
  const callers = Array.from({ length: 20 }, async () => {
    while (sent++ < FLOOD.requests) {
      // Many short parameters: the log hides long ones, which may be secrets.
      const response = await fetch(`${url}/nothing?${'x=1&'.repeat(FLOOD.padding / 4)}`);
      await response.arrayBuffer();
      counts[response.status] = (counts[response.status] ?? 0) + 1;
    }
  });
  await Promise.all(callers);
  return counts;
}

function droppedLines({ log }: ServerProcess): number {
  return log().reduce((sum, { dropped }) => sum + (dropped ?? 0), 0);
}

function requestLines({ log }: ServerProcess): number {
  return log().filter(({ req }) => req?.url.startsWith('/nothing')).length;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A stream that accepts a chunk on demand. */
function slowReader() {
  const taken: string[] = [];
  let takeOne = () => {};
  const stream = new Writable({
    decodeStrings: false,
    highWaterMark: 1,
    write(chunk: string, _encoding, done) {
      taken.push(chunk);
      takeOne = done;
    },
  });
  return { stream, taken, takeOne: () => takeOne() };
}
