import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extent } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { type EventClient, listen } from '../client/event-client.js';
import { requestWithoutReading, type SlowReader } from '../connections/slow-reader.js';
import { SECRETS } from './definitions.js';
import { type HistorySize, LARGE_SET, WIDE_SET } from './long-history.js';
import type { Answer, Sent } from './manners.js';
import { type MeasuredServer, type ServerProgram, serverProgram } from './measured-server.js';
import { isWithinPromise } from './run.js';

const SIZE = extent<HistorySize>({
  short: { busy: 10_000, events: 12_000, large: 10 },
  full: { busy: 90_000, events: 100_000, large: 100 },
});
const READERS = extent({ short: 100, full: 300 });
const AT_ONCE = extent({ short: 4, full: 8 });

let directory: string;
let program: ServerProgram;
let server: MeasuredServer;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'flags-budgets-'));
  program = serverProgram(join(__dirname, '../../..'), join(__dirname, 'children/history-server.ts'));
  server = await program.start({ storage: join(directory, 'flags.db'), size: SIZE, isThorough: true });
}, 120_000);
afterAll(async () => {
  await server.stop();
  program.remove();
  rmSync(directory, { recursive: true, force: true });
});

const headers = { authorization: SECRETS.admin, 'content-type': 'application/json' };

function post(path: string, body: object): Sent {
  return { method: 'POST', path: `/api/admin/${path}`, headers, body: JSON.stringify(body) };
}

const pastOf = (flag: string) =>
  post('playground', { environment: 'production', context: { userId: '7' }, flag, asOf: new Date().toISOString() });

/** Sends requests at the same time, and expects the promise to hold. Of several, the gate may refuse the last ones. */
async function expectBudget(...sent: readonly Sent[]): Promise<readonly Answer[]> {
  let answers: readonly Answer[] = [];
  const figures = await server.measure(async () => {
    answers = await Promise.all(sent.map((one) => server.ask(one)));
  });
  const refused = answers.filter(({ status, isRetryable }) => sent.length > 1 && status === 503 && isRetryable);
  const granted = answers.filter(({ status }) => status === 200);
  expect(granted.length).toBeGreaterThan(0);
  expect(granted.length + refused.length).toBe(sent.length);
  expect({ figures, isWithin: isWithinPromise(figures) }).toMatchObject({ isWithin: true });
  return answers;
}

describe(`a server with a log of ${SIZE.events} events and a heap of 192 MB`, () => {
  it('returns a past state of a flag of 1 MiB', async () => {
    await expectBudget(pastOf('largest'));
  });

  it('undoes a change of a flag of 1 MiB', async () => {
    await expectBudget(post(`changes/${LARGE_SET}/undo`, {}));
  });

  it('undoes a set of 500 changes', async () => {
    await expectBudget(post(`changes/${WIDE_SET}/undo`, {}));
  });

  it(`answers ${AT_ONCE} simultaneous requests for a flag after ${SIZE.busy} events without a checkpoint`, async () => {
    await expectBudget(...Array.from({ length: AT_ONCE }, () => pastOf('busy')));
  }, 120_000);

  it('opens an event stream at any position without counting the log', async () => {
    const path = '/api/admin/event-stream';
    for (const position of extent({ short: [SIZE.events], full: [1, SIZE.events / 2, SIZE.events] })) {
      const resuming = { ...headers, 'last-event-id': `${position}` };
      await expectBudget({ method: 'GET', path, headers: resuming, isEndless: true });
    }
  }, 60_000);

  it(`streams to a client beside ${READERS} that stop reading, at many positions among large events`, async () => {
    const readers: SlowReader[] = [];
    const path = '/api/admin/event-stream';
    const newest = (await newestId()) ?? 0;
    let client: EventClient | undefined;
    const figures = await server.measure(async () => {
      for (let number = 0; number < READERS; number++) {
        const lastEventId = `${newest - 1 - (number % SIZE.large)}`;
        readers.push(await requestWithoutReading(server.port, path, { ...headers, 'last-event-id': lastEventId }));
      }
      // Until then each of them has received a part of an event.
      await Promise.all(readers.map((reader) => reader.readTo(2000)));
      client = await listen(`http://127.0.0.1:${server.port}${path}`, headers);
      await until(() => (client?.heartbeats() ?? 0) > 0);
      expect(await server.ask(post('projects/default/features', { name: 'seen' }))).toMatchObject({ status: 201 });
      await until(() => (client?.messages.length ?? 0) > 0);
    });
    expect(client?.messages.map(({ data }) => data.featureName)).toEqual(['seen']);
    expect({ figures, isWithin: isWithinPromise(figures) }).toMatchObject({ isWithin: true });
    client?.leave();
    for (const reader of readers) reader.leave();
  }, 60_000);
});

async function newestId(): Promise<number | undefined> {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/admin/events?limit=1`, { headers });
  const { events } = (await response.json()) as { readonly events: readonly { readonly id: number }[] };
  return events[0]?.id;
}
