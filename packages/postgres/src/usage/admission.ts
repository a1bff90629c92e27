import { LIMITS } from '@flags/core';
import { type Admission, applicationsOf, decideAdmission } from '@flags/core/integration';
import type { UsageBatch } from '@flags/core/storage';
import { fromStoredText, toStoredText } from '../tables.js';
import type { UsageDatabase } from './usage-database.js';

/** The parts of several batches that may be stored. */
export interface Admitted {
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
  readonly spare: string[];
}

/** The stored applications of some names: whether only public reporters named them, and their number of instances. */
type StoredValues = readonly (readonly [name: string, isPublic: boolean, instances: number])[];

/**
 * Decides which applications may be stored, before the batches are written. Nodes that do so at once may exceed the limits by
 * a few.
 *
 * @param remove deletes applications that make room
 */
export function createAdmission(
  { database, names }: Pick<UsageDatabase, 'database' | 'names'>,
  remove: (applications: readonly string[]) => Promise<void>,
) {
  const applications = names.table('usage_applications');
  const instances = names.table('usage_instances');

  async function lookUp(ids: readonly string[], named: readonly string[]) {
    const [row] = await database.query<LookedUp>(
      `SELECT
        (SELECT coalesce(json_agg(id), '[]') FROM ${names.table('usage_batches')} WHERE id = ANY ($1::text[])) AS batches,
        (SELECT coalesce(json_agg(json_build_array(
          name, is_public, (SELECT count(*) FROM ${instances} WHERE application = name))), '[]')
          FROM ${applications} WHERE name = ANY ($2::text[])) AS stored`,
      [ids, named].map((texts) => texts.map(toStoredText)),
    );
    const stored = JSON.parse(row?.stored ?? '[]') as StoredValues;
    return {
      recorded: new Set((JSON.parse(row?.batches ?? '[]') as string[]).map(fromStoredText)),
      stored: new Map(stored.map(([name, isPublic]) => [fromStoredText(name), { isPublic }])),
      instances: new Map(stored.map(([name, , count]) => [fromStoredText(name), count])),
    };
  }

  /** Counts the applications, all and by token, and finds those that may make room for further ones. */
  async function countAll(tokens: readonly string[], named: readonly string[], further: number): Promise<Totals> {
    // As with most batches.
    if (further === 0) return { total: 0, owned: new Map(), spare: [] };
    const [row] = await database.query<{ readonly total: string; readonly owned: string }>(
      `SELECT (SELECT count(*) FROM ${applications}) AS total,
        (SELECT coalesce(json_agg(json_build_array(token, number)), '[]') FROM (
          SELECT token, count(*) AS number FROM ${applications} WHERE token = ANY ($1::text[]) GROUP BY token
        ) AS counted) AS owned`,
      [tokens.map(toStoredText)],
    );
    const total = Number(row?.total ?? 0);
    const owned = JSON.parse(row?.owned ?? '[]') as [string, number][];
    const spare =
      total + further <= LIMITS.applications
        ? []
        : await database.query<{ readonly name: string }>(
            `SELECT name FROM ${applications} WHERE is_public AND name <> ALL ($1::text[])
            ORDER BY (SELECT max(seen_at) FROM ${instances} WHERE application = name), name LIMIT $2`,
            [named.map(toStoredText), further],
          );
    return {
      total,
      owned: new Map<string | undefined, number>(owned.map(([token, number]) => [fromStoredText(token), number])),
      spare: spare.map(({ name }) => fromStoredText(name)),
    };
  }

  return async (batches: readonly UsageBatch[]): Promise<Admitted> => {
    const named = [...new Set(batches.flatMap(applicationsOf))];
    const found = await lookUp([...new Set(batches.map(({ id }) => id))], named);
    const { recorded, stored } = found;
    const further = named.filter((name) => !stored.has(name)).length;
    const tokens = batches.flatMap(({ reporter }) => (reporter ? [reporter.token] : []));
    const state = await countAll(tokens, named, further);
    let { total } = state;
    const admissions = new Map<UsageBatch, Admission>();
    for (const batch of batches) {
      if (recorded.has(batch.id)) continue;
      recorded.add(batch.id);
      const { token, isPublic } = batch.reporter ?? { token: undefined, isPublic: false };
      const owned = state.owned.get(token) ?? 0;
      const admission = decideAdmission(batch, { stored, total, owned, spare: state.spare });
      for (const name of admission.created) stored.set(name, { isPublic });
      for (const name of admission.adopted) stored.set(name, { isPublic: false });
      const displaced = state.spare.splice(0, admission.displaced.length);
      if (displaced.length > 0) await remove(displaced);
      if (token !== undefined) state.owned.set(token, owned + admission.created.length);
      total += admission.created.length - admission.displaced.length;
      admissions.set(batch, admission);
    }
    return { admissions, crowded: crowdedOf(batches, found.instances) };
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
