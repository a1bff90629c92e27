import { randomUUID } from 'node:crypto';
import type { FlagsStorage } from '@flags/core';
import { usageOf } from '@flags/core/integration/postgres';
import { extent } from '../../../../test/extent.js';
import { createRandom } from '../../../../test/seed.js';
import { delay } from '../../src/connection/errors.js';
import { type DataVersionRow, dataVersionStatement, toDataVersion } from '../../src/data-version.js';
import { postgresStorage } from '../../src/index.js';
import { tableNames } from '../../src/tables.js';
import { ownServer } from '../own-database.js';
import { recordedPool } from '../recorded-pool.js';
import { change } from '../samples.js';

const random = createRandom();

// A server of its own, because its foreign transactions hold back the feeds of other tests.
const database = ownServer();
const WRITERS = 4;
const CHANGES = extent({ short: 60, full: 1500 });
const ROUNDS = Array.from({ length: extent({ short: 1, full: 5 }) }, (_, round) => round);
const COUNTS = [{ flag: 'a', yes: 1, no: 0 }];
const NOW = Date.UTC(2030, 0, 15);
const AS_TEXT = { getTypeParser: () => (value: string) => value };
const CONTENTS = ['documents', 'events', 'usage_instances', 'usage_applications', 'usage_counts', 'usage_last_seen'];

interface Race {
  readonly schema: string;
  readonly isOver: () => boolean;
}

type Versioned = FlagsStorage & { readonly dataVersion: () => Promise<string> };

const upTo = (milliseconds: number) => delay(random() * milliseconds);

/** Delays statements, COMMIT too, so that transactions end in another order than they begin. */
function openLate({ schema }: Race): Promise<Versioned> {
  const pool = recordedPool(database.pool(), async () => {
    if (random() < 0.5) await upTo(6);
  });
  return postgresStorage({ pool, listen: false, schema }) as Promise<Versioned>;
}

/** Makes a random change: a commit with or without events, or one of usage. */
async function changeAnything(storage: FlagsStorage, name: string): Promise<void> {
  const usage = usageOf(storage);
  const sighting = { application: name, instance: { id: name } };
  const batch = { id: randomUUID(), at: NOW };
  const kind = Math.floor(random() * 10);
  if (kind < 6) await storage.commit(change(name));
  else if (kind < 7) await storage.commit({ ...change(name), events: [] });
  else if (kind < 8) await usage?.record({ ...batch, registrations: [{ ...sighting, strategies: [] }] });
  else if (kind < 9) await usage?.record({ ...batch, reports: [{ ...sighting, stop: NOW, counts: COUNTS }] });
  else await usage?.forget({ flags: ['a'] });
}

/** Reads the data version after each change, and returns those that were read before the change began. */
function writing() {
  const given = new Map<string, number>();
  return async (node: Versioned, writer: number): Promise<readonly string[]> => {
    const stale: string[] = [];
    for (let number = 0; number < CHANGES; number++) {
      // Another writer may read it before this change is acknowledged.
      const begun = performance.now();
      await changeAnything(node, `f${writer}-${number}`);
      const version = await node.dataVersion();
      if ((given.get(version) ?? begun) < begun) stale.push(version);
      if (!given.has(version)) given.set(version, performance.now());
    }
    return stale;
  };
}

/** Reads the data version and the contents in one snapshot, repeatedly. Returns versions with several contents. */
async function look({ schema, isOver }: Race): Promise<readonly string[]> {
  const names = tableNames({ schema, tablePrefix: 'flags_' });
  const version = dataVersionStatement(names);
  const hashes = CONTENTS.map(
    (name) => `(SELECT md5(string_agg(t::text, ' ' ORDER BY t)) FROM ${names.table(name)} AS t)`,
  );
  const contents = `SELECT concat_ws('/', ${hashes.join(', ')}) AS contents`;
  const seen = new Map<string, Set<string>>();
  const client = await database.pool().connect();
  while (!isOver()) {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows } = await client.query<DataVersionRow>({ text: version, types: AS_TEXT });
    const found = await client.query<{ readonly contents: string }>(contents);
    await client.query('COMMIT');
    const text = rows.map(toDataVersion).join();
    seen.set(text, (seen.get(text) ?? new Set()).add(String(found.rows[0]?.contents)));
  }
  client.release();
  expect(seen.size).toBeGreaterThan(10);
  return [...seen].filter(([, { size }]) => size > 1).map(([text]) => text);
}

/** Runs foreign transactions, long and short. */
async function disturb({ isOver }: Race): Promise<readonly string[]> {
  const client = await database.pool().connect();
  while (!isOver()) {
    await client.query('BEGIN; SELECT pg_current_xact_id()');
    await upTo(60);
    await client.query(random() < 0.5 ? 'COMMIT' : 'ROLLBACK');
    await upTo(10);
  }
  client.release();
  return [];
}

describe('data versions', () => {
  it.each(ROUNDS)(
    'differ whenever the contents differ, beside commits and open transactions (round %i)',
    async (round) => {
      let isOver = false;
      const race: Race = { schema: `race_${round}`, isOver: () => isOver };
      const nodes = await Promise.all(Array.from({ length: WRITERS }, () => openLate(race)));
      const around = Promise.all([look(race), look(race), disturb(race), disturb(race)]);
      const stale = await Promise.all(nodes.map(writing())).finally(() => {
        isOver = true;
      });
      expect(stale.flat()).toEqual([]);
      expect((await around).flat()).toEqual([]);
      await Promise.all(nodes.map((node) => node.close()));
    },
  );
});
