import { randomUUID } from 'node:crypto';
import { Client, Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg';

/** Statements that were sent while none before them was unanswered but those of the same step. */
export type Step = readonly QueryConfig[];

/** What an operation sends to the database, in the order in which it does. */
export interface Recording {
  readonly steps: readonly Step[];
  /** When it was recorded, in milliseconds. */
  readonly at: number;
}

/** A pool that can tell what is sent through it. */
export interface RecordingPool {
  readonly pool: Pool;
  record(work: () => Promise<unknown>): Promise<Recording>;
}

export function recordingPool(connectionString: string): RecordingPool {
  let steps: QueryConfig[][] = [];
  let unanswered = 0;
  const query = Client.prototype.query as (query: QueryConfig) => Promise<QueryResult>;

  class RecordingClient extends Client {
    override query = (async (sent: QueryConfig) => {
      if (isNotification(sent)) return query.call(this, sent);
      if (unanswered === 0) steps.push([]);
      steps.at(-1)?.push(sent);
      unanswered += 1;
      try {
        return await query.call(this, sent);
      } finally {
        unanswered -= 1;
      }
    }) as unknown as Client['query'];
  }

  const options = { connectionString, Client: RecordingClient };
  return {
    pool: new Pool(options),
    async record(work) {
      steps = [];
      await work();
      return { steps, at: Date.now() };
    },
  };
}

/** Other nodes are told after the answer has been given, however many changes there were by one message. */
function isNotification({ text }: QueryConfig): boolean {
  return text.includes('pg_notify');
}

/** What takes the place of what was recorded. */
interface Changed {
  readonly name: readonly [recorded: string, now: string];
  readonly at: number;
  /** The revision that was recorded, and the one that was read now. */
  revision: readonly [recorded: number, now: number];
}

/**
 * Sends what was recorded once more, on connections of the pool, for another flag and another time: each step when the one
 * before has been answered, a transaction on one connection. Fails when a statement has changed no row that it should.
 */
export async function replay(
  { steps, at }: Recording,
  { pool, name, revision }: { pool: Pool; name: readonly [string, string]; revision: number },
): Promise<void> {
  const changed: Changed = { name, at, revision: [revision, revision] };
  let transaction: PoolClient | undefined;
  for (const step of steps) {
    const [first] = step;
    if (first?.text.startsWith('BEGIN')) transaction = await pool.connect();
    await Promise.all(step.map((sent) => send(anew(sent, changed), { pool, transaction, changed })));
    if (first?.text !== 'COMMIT') continue;
    transaction?.release();
    transaction = undefined;
  }
}

interface Surroundings {
  readonly pool: Pool;
  readonly transaction: PoolClient | undefined;
  readonly changed: Changed;
}

async function send(sent: QueryConfig, { pool, transaction, changed }: Surroundings): Promise<void> {
  const client = transaction ?? (await pool.connect());
  try {
    const { rows = [] } = await client.query(sent);
    // What the engine would refuse, or begin anew for.
    if (sent.text.includes('written AS') && !rows.some(({ source }) => source === 'write')) {
      throw new Error('A statement was not carried out.');
    }
    const [row] = rows;
    if (row?.body === undefined) return;
    // What would be done with the answer.
    JSON.parse(row.body);
    changed.revision = [changed.revision[0], Number(row.revision)];
  } finally {
    if (!transaction) client.release();
  }
}

function anew(sent: QueryConfig, changed: Changed): QueryConfig {
  return sent.values ? { ...sent, values: sent.values.map((value) => valueAnew(value, changed)) } : sent;
}

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-/;
const MINUTE = 60_000;

function valueAnew(value: unknown, changed: Changed): unknown {
  const { name, at, revision } = changed;
  if (Array.isArray(value)) return value.map((one) => valueAnew(one, changed));
  if (typeof value === 'string') return ID.test(value) ? randomUUID() : value.replaceAll(...name);
  if (typeof value !== 'number') return value;
  if (value === revision[0]) return revision[1];
  if (Math.abs(value - at) < MINUTE) return Date.now();
  return Math.abs(value * 1000 - at) < MINUTE ? Math.ceil(Date.now() / 1000) : value;
}
