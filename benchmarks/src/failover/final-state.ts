import Database from 'better-sqlite3';
import pg from 'pg';
import type { FinalFlag, LoggedEvent } from './checker/history.js';
import type { NodeStorage } from './workload.js';

/** The events and documents that are stored at the end, read with SQL. */
export interface FinalState {
  readonly events: readonly LoggedEvent[];
  readonly flags: readonly FinalFlag[];
  /** The `key` of the event at a position. */
  keyAt(position: string): string | undefined;
}

interface EventRow {
  readonly position: string;
  readonly id: string | number;
  readonly change_id: string;
  readonly subject_id: string;
  readonly revision: string | number;
}

interface DocumentRow {
  readonly id: string;
  readonly revision: string | number;
  readonly body: string;
}

/** Other events belong to the creation of the flags. */
const CHANGES = "WHERE type = 'variants-updated'";
const COLUMNS = 'change_id, subject_id, revision';

async function readRows(
  storage: NodeStorage,
): Promise<{ readonly events: EventRow[]; readonly documents: DocumentRow[] }> {
  const documents = "WHERE kind = 'flag' AND body IS NOT NULL";
  if (storage.kind === 'sqlite') {
    const database = new Database(storage.path);
    const ask = <Row>(statement: string) => database.prepare(statement).all() as Row[];
    const events = ask<EventRow>(
      `SELECT position, position AS id, ${COLUMNS} FROM flags_events ${CHANGES} ORDER BY position`,
    );
    const found = ask<DocumentRow>(`SELECT id, revision, body FROM flags_documents ${documents}`);
    database.close();
    return { events, documents: found };
  }
  const client = new pg.Client(storage.connectionString);
  await client.connect();
  const ask = async (statement: string) => (await client.query(statement)).rows;
  const [events, found] = [
    await ask(
      `SELECT commit_order || '-' || id AS position, id, ${COLUMNS} FROM ${storage.schema}.flags_events ${CHANGES} ORDER BY commit_order, id`,
    ),
    await ask(`SELECT id, revision, body FROM ${storage.schema}.flags_documents ${documents}`),
  ];
  await client.end();
  return { events, documents: found };
}

export async function readFinalState(storage: NodeStorage): Promise<FinalState> {
  const { events, documents } = await readRows(storage);
  const keyOf = ({ id, change_id }: EventRow) => `${id}/${change_id}`;
  const keys = new Map(events.map((row) => [`${row.position}`, keyOf(row)]));
  return {
    events: events.map((row) => ({
      key: keyOf(row),
      id: row.change_id,
      flag: row.subject_id,
      revision: Number(row.revision),
    })),
    flags: documents.map(({ id, revision, body }) => {
      const { variants } = JSON.parse(body) as { readonly variants: readonly { payload?: { value?: string } }[] };
      return { flag: id, revision: Number(revision), value: variants[0]?.payload?.value ?? '' };
    }),
    keyAt: (position) => keys.get(position.split('-').slice(0, 2).join('-')),
  };
}
