import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { sharedServer } from './shared-server.js';

export interface FreshDatabase {
  /** Its connection string. */
  readonly url: string;
  /** Ends all connections and drops the database. */
  drop(): Promise<void>;
}

export interface DatabaseOrigin {
  /** The connection string of any database of the server. Default: the server that the run shares. */
  readonly server?: string;
  /** The connection string of a database to copy, without connections. Default: an empty database. */
  readonly template?: string;
}

/** Creates a database that only the caller uses. */
export async function freshDatabase({
  server = sharedServer(),
  template,
}: DatabaseOrigin = {}): Promise<FreshDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await execute(server, `CREATE DATABASE ${name}${template ? ` TEMPLATE ${nameOf(template)}` : ''}`);
  return {
    url: databaseUrl(server, name),
    drop: () => execute(server, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
