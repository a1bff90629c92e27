import {
  type ApplicationRegistration,
  addDropped,
  createUsageDeletion,
  createUsageReader,
  type DroppedUsage,
  NOTHING_DROPPED,
  type UsageBatch,
  type UsageStorage,
  usageRemovals,
} from '@flags/core/integration/postgres';
import { createBatches } from '../batches.js';
import type { Database } from '../database.js';
import type { TableLocation } from '../tables.js';
import { createAdmission } from './admission.js';
import { recordStatement } from './record-statement.js';
import { usageDatabase } from './usage-database.js';

export interface PostgresUsageOptions {
  readonly database: Database;
  readonly location: TableLocation;
  /** Runs a call while the storage is open. Fails when it is closed. */
  readonly whileOpen: <T>(work: () => Promise<T>) => Promise<T>;
}

/** A batch that waits for its write. */
interface WaitingBatch {
  readonly batch: UsageBatch;
  dropped: DroppedUsage;
}

/**
 * Stores usage in the tables of a PostgreSQL storage, on its connections. Closing it leaves them open.
 *
 * A node writes one statement at a time, with all batches that arrived meanwhile. A call resolves once its batch is durable.
 * If it rejects, nothing of the batch was written, unless the code is `outcome_unknown`.
 */
export function postgresUsage({ database, location, whileOpen }: PostgresUsageOptions): UsageStorage {
  const tables = usageDatabase(database, location);
  const { dialect, read } = tables;
  const removals = usageRemovals(dialect);
  const deletion = createUsageDeletion({ dialect, read, write: tables.write, slice: 5000, applicationsPerSlice: 100 });
  const { sum, lastSeen, applications } = createUsageReader(dialect, read);
  const admit = createAdmission(tables);
  const toStatement = recordStatement(tables);

  async function write(waiting: readonly WaitingBatch[]): Promise<void> {
    const { admissions, crowded } = await admit(waiting.map(({ batch }) => batch));
    const written = waiting.flatMap((one) => {
      const admission = admissions.get(one.batch);
      return admission ? [{ one, batch: one.batch, admission }] : [];
    });
    if (written.length === 0) return;
    const { statement, droppedNames } = toStatement(written);
    await database.write(statement);
    for (const { one, admission } of written) one.dropped = { ...NOTHING_DROPPED, reports: admission.refused };
    const [first] = written;
    if (!first) return;
    // The batches are stored. If trimming fails, the next one deletes the rest.
    const trimmed = crowded.length > 0 ? await tables.write(removals.excess(crowded)).catch(() => 0) : 0;
    first.one.dropped = addDropped(first.one.dropped, { ...NOTHING_DROPPED, names: droppedNames + trimmed });
  }

  const writes = createBatches<WaitingBatch>(write, ({ batch }) => rowsIn(batch));

  return {
    record: (batch) =>
      whileOpen(async () => {
        const waiting = { batch: structuredClone(batch), dropped: NOTHING_DROPPED };
        await writes.add(waiting);
        return waiting.dropped;
      }),
    sum: (query) => whileOpen(async () => sum(query)),
    lastSeen: (flags) => whileOpen(async () => lastSeen(flags)),
    applications: (query) => whileOpen(async () => applications(query)),
    forget: (subject) => whileOpen(async () => deletion.forget(subject)),
    prune: (retention) => whileOpen(async () => deletion.prune(retention)),
    close: () => undefined,
  };
}

/** Characters of a registration that count as one row: its texts may be as long as those of hundreds of rows. */
const REGISTRATION_ROW = 64;

/** About how many rows a batch has. */
function rowsIn({ registrations = [], reports = [] }: UsageBatch): number {
  const counted = reports.reduce((sum, { counts, unknown = [] }) => sum + counts.length + unknown.length, 0);
  return registrations.reduce((sum, registration) => sum + sizeOf(registration), counted);
}

function sizeOf(registration: ApplicationRegistration): number {
  return Math.ceil(JSON.stringify(registration).length / REGISTRATION_ROW);
}
