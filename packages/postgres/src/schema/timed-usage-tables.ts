import { type TableNames, toLiteral } from '../tables.js';

const LARGEST = Number.MAX_SAFE_INTEGER;

/** The tables of timed usage, added by version 3. */
export function timedUsageTables({ table, index }: TableNames): string {
  const period = (name: string) => `
CREATE TABLE ${table(name)} (
  flag text COLLATE "C" NOT NULL,
  application text COLLATE "C" NOT NULL,
  environment text COLLATE "C" NOT NULL,
  start bigint NOT NULL,
  shard smallint NOT NULL,
  yes bigint NOT NULL,
  no bigint NOT NULL,
  variants text,
  PRIMARY KEY (flag, application, environment, start, shard)
);

CREATE INDEX ${index(`${name}_by_start`)} ON ${table(name)} (start);
`;
  return period('usage_hours') + period('usage_days');
}

/**
 * Version 4: reports write the counts of each hour to `usage_current` alone. Pruning moves the hours that are over to
 * `usage_hours`, `usage_days` and `usage`, to which earlier releases write. `variants` is a JSON list of pairs, in
 * `usage_current` several, joined by commas. Builds before the release wrote to the table `usage_now`, whose `count` has the sum of all hours.
 */
export function currentUsageTable({ table, index }: TableNames): string {
  return `
CREATE TABLE ${table('usage_current')} (
  application text COLLATE "C" NOT NULL,
  flag text COLLATE "C" NOT NULL,
  environment text COLLATE "C" NOT NULL,
  start bigint NOT NULL,
  shard smallint NOT NULL,
  yes bigint NOT NULL,
  no bigint NOT NULL,
  variants text,
  PRIMARY KEY (application, flag, environment, start, shard)
) WITH (fillfactor = 70);

CREATE INDEX ${index('usage_current_by_flag')} ON ${table('usage_current')} (flag, application, environment);

CREATE OR REPLACE FUNCTION ${table('add_variants')}(one text, other text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS ${toLiteral(`
BEGIN
  RETURN (
    SELECT json_agg(json_build_array(variant, least(count, ${LARGEST}))) FROM (
      SELECT pair ->> 0 AS variant, sum((pair ->> 1)::numeric) AS count
      FROM json_array_elements(concat('[', concat_ws(',', one, other), ']')::json) AS list, json_array_elements(list) AS pair
      GROUP BY pair ->> 0
    ) AS sums
  );
END
`)};

DO ${toLiteral(`
BEGIN
  IF to_regclass(${toLiteral(table('usage_now'))}) IS NOT NULL THEN
    INSERT INTO ${table('usage_current')} (application, flag, environment, start, shard, yes, no, variants)
      SELECT application, flag, environment, hour, shard, yes, no, variants FROM ${table('usage_now')};
    INSERT INTO ${table('usage')} AS known (application, flag, shard, count)
      SELECT application, flag, shard, least(sum(greatest(count - yes - no, 0)), ${LARGEST})
      FROM ${table('usage_now')} GROUP BY application, flag, shard
      ON CONFLICT (application, flag, shard) DO UPDATE SET count = least(known.count + excluded.count, ${LARGEST});
    TRUNCATE ${table('usage_now')};
  END IF;
END
`)};
`;
}

/** The functions that nodes call, as GRANT names them. */
export function timedUsageFunctions({ table }: TableNames): readonly string[] {
  return [`${table('add_variants')}(text, text)`];
}
