import { Pool, type PoolClient } from 'pg';
import type { FlagState } from '../../../packages/core/dist/flags/flag.js';
import { openDriverMetrics } from './driver-metrics.js';
import { inTransaction } from './driver-transaction.js';

const ENVIRONMENT = 'production';
/** How the events are ordered. */
const PLACE = 'pg_current_xact_id()::text::bigint';

/** What the engine does for these operations, written by hand on `pg`: the same reads, rows and guarantees. */
export function openDriverFlags(connectionString: string, schema: string) {
  const pool = new Pool({ connectionString, max: 10 });
  const [documents, events] = [`${schema}.flags_documents`, `${schema}.flags_events`];

  async function find(kind: string, id: string) {
    const text = `SELECT parent, revision, body FROM ${documents} WHERE kind = $1 AND id = $2 AND body IS NOT NULL`;
    const { rows } = await pool.query(text, [kind, id]);
    return rows.map(({ revision, body }) => ({ revision: Number(revision), body: JSON.parse(body) }))[0];
  }

  async function existing(kind: string, id: string) {
    return (await find(kind, id)) ?? fail(`There is no ${kind} ${id}.`);
  }

  function lastSeen(name: string) {
    return pool.query(`SELECT max(at) FROM ${schema}.flags_last_seen WHERE flag = $1`, [name]);
  }

  function append(client: PoolClient, event: Happening) {
    const { type, flag, revision, environment, data, before } = event;
    return client.query(
      `INSERT INTO ${events} (commit_order, type, at, actor, subject_kind, subject_id, revision, project, environment, data, before)
      VALUES (${PLACE}, $1, $2, 'system', 'flag', $3, $4, $5, $6, $7, $8)`,
      [type, new Date().toISOString(), flag.name, revision, flag.project, environment, ...[data, before].map(toJson)],
    );
  }

  return {
    async create(project: string, name: string): Promise<void> {
      await lastSeen(name);
      if (await find('flag', name)) fail(`A flag ${name} exists.`);
      const { revision } = await existing('project', project);
      const flag = newFlag(project, name);
      await inTransaction(pool, async (client) => {
        const check = `SELECT FROM ${documents} WHERE kind = 'project' AND id = $1 AND revision = $2 FOR SHARE`;
        requireRow(await client.query(check, [project, revision]));
        const insert = `INSERT INTO ${documents} (kind, id, parent, revision, summary, body) VALUES ('flag', $1, $2, 1, $3, $4)`;
        await client.query(insert, [name, project, summaryOf(flag), toJson(flag)]);
        const event = { type: 'flag-created', environment: null, data: flag, before: null };
        await append(client, { ...event, flag, revision: 1 });
      });
    },
    async setEnabled(name: string, enabled: boolean): Promise<void> {
      const { revision, body } = await existing('flag', name);
      const flag = switched(body, enabled);
      await inTransaction(pool, async (client) => {
        const update = `UPDATE ${documents} SET revision = revision + 1, summary = $3, body = $4
          WHERE kind = 'flag' AND id = $1 AND revision = $2`;
        requireRow(await client.query(update, [name, revision, summaryOf(flag), toJson(flag)]));
        const type = enabled ? 'environment-enabled' : 'environment-disabled';
        const event = { type, environment: ENVIRONMENT, data: { enabled }, before: { enabled: !enabled } };
        await append(client, { ...event, flag, revision: revision + 1 });
      });
    },
    async get(name: string): Promise<unknown> {
      const found = await existing('flag', name);
      const children = `SELECT id, body FROM ${documents} WHERE kind = 'dependency' AND parent = $1 ORDER BY id`;
      return [found, await Promise.all([pool.query(children, [name]), lastSeen(name)])];
    },
    report: openDriverMetrics(pool, schema),
  };
}

interface Happening {
  readonly type: string;
  readonly flag: FlagState;
  readonly revision: number;
  readonly environment: string | null;
  readonly data: unknown;
  readonly before: unknown;
}

function requireRow({ rowCount }: { readonly rowCount: number | null }): void {
  if (rowCount !== 1) fail('A document has moved.');
}

function fail(message: string): never {
  throw new Error(message);
}

function toJson(value: unknown): string {
  return JSON.stringify(value);
}

function newFlag(project: string, name: string): FlagState {
  const createdAt = new Date().toISOString();
  const about = { name, project, description: '', type: 'release', stale: false, impressionData: false };
  return { ...about, archived: false, createdAt, variants: [], environments: [], labels: [], owner: null };
}

function switched(flag: FlagState, enabled: boolean): FlagState {
  const environments = flag.environments.map((one) => (one.name === ENVIRONMENT ? { ...one, enabled } : one));
  return { ...flag, environments };
}

function summaryOf({ type, stale, archived, createdAt, environments }: FlagState): string {
  const enabledIn = environments.filter(({ enabled }) => enabled).map(({ name }) => name);
  return JSON.stringify({ type, stale, archived, createdAt, enabledIn, segments: [], parents: [] });
}
