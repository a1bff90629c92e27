import { LIMITS } from '@flags/core';
import { type Admission, applicationsOf, decideAdmission, type UsageBatch } from '@flags/core/integration/postgres';
import { fromStoredText, toStoredText } from '../tables.js';
import type { UsageDatabase } from './usage-database.js';

/** The parts of several batches that may be stored. */
export interface AdmittedParts {
  /** Without the batches that were recorded before. */
  readonly admissions: ReadonlyMap<UsageBatch, Admission>;
  /** Applications that may exceed a limit after the write. */
  readonly crowded: readonly string[];
}

/** Names with their values, as JSON lists. */
interface LookedUp {
  readonly batches: string;
  readonly stored: string;
}

interface Totals {
  readonly total: number;
  /** By token; undefined for batches without a reporter, which count for no token. */
  readonly owned: Map<string | undefined, number>;
}

/** The stored applications of some names, and their numbers of instances. */
type StoredValues = readonly (readonly [name: string, instances: number])[];

/**
 * Decides which applications may be stored, before the batches are written. Nodes that do so at once may exceed the limits by
 * a few.
 */
export function createAdmission({ database, names }: Pick<UsageDatabase, 'database' | 'names'>) {
  const applications = names.table('usage_applications');
  const instances = names.table('usage_instances');

  async function lookUp(ids: readonly string[], named: readonly string[]) {
    const [row] = await database.query<LookedUp>(
      `SELECT
        (SELECT coalesce(json_agg(id), '[]') FROM ${names.table('usage_batches')} WHERE id = ANY ($1::text[])) AS batches,
        (SELECT coalesce(json_agg(json_build_array(
          name, (SELECT count(*) FROM ${instances} WHERE application = name))), '[]')
          FROM ${applications} WHERE name = ANY ($2::text[])) AS stored`,
      [ids, named].map((texts) => texts.map(toStoredText)),
    );
    const stored = JSON.parse(row?.stored ?? '[]') as StoredValues;
    return {
      recorded: new Set((JSON.parse(row?.batches ?? '[]') as string[]).map(fromStoredText)),
      stored: new Map(stored.map(([name, count]) => [fromStoredText(name), count])),
    };
  }

  /** Counts the applications, all and by token. */
  async function countAll(tokens: readonly string[]): Promise<Totals> {
    const [row] = await database.query<{ readonly total: string; readonly owned: string }>(
      `SELECT (SELECT count(*) FROM ${applications}) AS total,
        (SELECT coalesce(json_agg(json_build_array(token, number)), '[]') FROM (
          SELECT token, count(*) AS number FROM ${applications} WHERE token = ANY ($1::text[]) GROUP BY token
        ) AS counted) AS owned`,
      [tokens.map(toStoredText)],
    );
    const owned = JSON.parse(row?.owned ?? '[]') as [string, number][];
    return {
      total: Number(row?.total ?? 0),
      owned: new Map(owned.map(([token, number]) => [fromStoredText(token), number])),
    };
  }

  return async (batches: readonly UsageBatch[]): Promise<AdmittedParts> => {
    const named = [...new Set(batches.flatMap(applicationsOf))];
    const found = await lookUp([...new Set(batches.map(({ id }) => id))], named);
    const { recorded } = found;
    const stored = new Set(found.stored.keys());
    const tokens = batches.flatMap(({ reporter }) => (reporter ? [reporter.token] : []));
    // Most batches name stored applications only.
    const isComplete = named.every((name) => stored.has(name));
    const totals: Totals = isComplete ? { total: 0, owned: new Map() } : await countAll(tokens);
    let { total } = totals;
    const admissions = new Map<UsageBatch, Admission>();
    for (const batch of batches) {
      if (recorded.has(batch.id)) continue;
      recorded.add(batch.id);
      const token = batch.reporter?.token;
      const owned = totals.owned.get(token) ?? 0;
      const admission = decideAdmission(batch, { stored, total, owned });
      for (const name of admission.created) stored.add(name);
      if (token !== undefined) totals.owned.set(token, owned + admission.created.length);
      total += admission.created.length;
      admissions.set(batch, admission);
    }
    return { admissions, crowded: crowdedOf(batches, found.stored) };
  };
}

/** Applications with unknown names, and those whose instances may be more than the limit. */
function crowdedOf(batches: readonly UsageBatch[], known: ReadonlyMap<string, number>): readonly string[] {
  const crowded = new Set<string>();
  const instances = new Map<string, Set<string>>();
  for (const { registrations = [], reports = [] } of batches) {
    for (const { application, unknown = [] } of reports) if (unknown.length > 0) crowded.add(application);
    for (const { application, instance } of [...registrations, ...reports]) {
      const ids = instances.get(application) ?? new Set();
      instances.set(application, ids.add(instance.id));
    }
  }
  for (const [application, { size }] of instances) {
    if (size + (known.get(application) ?? 0) > LIMITS.instancesPerApplication) crowded.add(application);
  }
  return [...crowded];
}
