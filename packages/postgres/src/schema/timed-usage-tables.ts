import { type TableNames, toLiteral } from '../tables.js';

/**
 * The tables of timed usage, added by version 3. A row of `usage_now` has the sum of all counts, and the counts of the hour
 * of the latest report. A trigger moves the counts of an earlier hour, and those of a deleted row. `usage` has the counts of
 * earlier releases: reads add it.
 */
export function timedUsageTables({ table, index }: TableNames): string {
  const largest = Number.MAX_SAFE_INTEGER;
  const sum = (column: string) => `${column} = least(known.${column} + excluded.${column}, ${largest})`;
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
  const add = (name: string, start: string) => `
  INSERT INTO ${table(name)} AS known (flag, application, environment, start, shard, yes, no, variants)
  VALUES (past.flag, past.application, past.environment, ${start}, past.shard, past.yes, past.no, past.variants)
  ON CONFLICT (flag, application, environment, start, shard) DO UPDATE SET
    ${sum('yes')}, ${sum('no')}, variants = ${table('add_variants')}(known.variants, excluded.variants);
`;
  return `
CREATE TABLE ${table('usage_now')} (
  application text COLLATE "C" NOT NULL,
  flag text COLLATE "C" NOT NULL,
  environment text COLLATE "C" NOT NULL,
  shard smallint NOT NULL,
  count bigint NOT NULL,
  hour bigint NOT NULL,
  yes bigint NOT NULL,
  no bigint NOT NULL,
  variants text,
  PRIMARY KEY (application, flag, environment, shard)
) WITH (fillfactor = 70);

CREATE INDEX ${index('usage_now_by_flag')} ON ${table('usage_now')} (flag, application, environment);
${period('usage_hours')}${period('usage_days')}
CREATE FUNCTION ${table('add_variants')}(one text, other text) RETURNS text LANGUAGE sql IMMUTABLE AS ${toLiteral(`
  SELECT CASE WHEN one IS NULL THEN other WHEN other IS NULL THEN one ELSE (
    SELECT json_agg(json_build_array(variant, least(count, ${largest})))::text FROM (
      SELECT pair ->> 0 AS variant, sum((pair ->> 1)::numeric) AS count FROM (
        SELECT json_array_elements(one::json) AS pair UNION ALL SELECT json_array_elements(other::json)
      ) AS pairs GROUP BY pair ->> 0
    ) AS sums
  ) END
`)};

CREATE FUNCTION ${table('add_usage')}(past ${table('usage_now')}) RETURNS void LANGUAGE plpgsql AS ${toLiteral(`
BEGIN${add('usage_hours', 'past.hour')}${add('usage_days', 'past.hour - past.hour % 86400000')}
END
`)};

CREATE FUNCTION ${table('move_usage')}() RETURNS trigger LANGUAGE plpgsql AS ${toLiteral(`
DECLARE
  past ${table('usage_now')}%ROWTYPE;
BEGIN
  IF TG_OP = 'DELETE' OR OLD.hour < NEW.hour THEN
    past := OLD;
  ELSE
    past := NEW;
    NEW.hour := OLD.hour;
    NEW.yes := OLD.yes;
    NEW.no := OLD.no;
    NEW.variants := OLD.variants;
  END IF;
  PERFORM ${table('add_usage')}(past);
  IF TG_OP = 'DELETE' THEN
    RETURN OLD;
  END IF;
  RETURN NEW;
END
`)};

CREATE TRIGGER ${index('usage_now_moved')} BEFORE UPDATE ON ${table('usage_now')}
  FOR EACH ROW WHEN (OLD.hour <> NEW.hour) EXECUTE FUNCTION ${table('move_usage')}();

CREATE TRIGGER ${index('usage_now_deleted')} BEFORE DELETE ON ${table('usage_now')}
  FOR EACH ROW EXECUTE FUNCTION ${table('move_usage')}();
`;
}

/** The functions that nodes call, as GRANT names them. */
export function timedUsageFunctions({ table }: TableNames): readonly string[] {
  return [`${table('add_variants')}(text, text)`, `${table('add_usage')}(${table('usage_now')})`];
}
