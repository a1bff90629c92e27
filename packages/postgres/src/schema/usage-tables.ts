import { RESOLUTIONS } from '@flags/core/integration';
import { bounded, type TableNames } from '../tables.js';

/**
 * The tables of usage, added by version 6. Text is compared by bytes, which in UTF-8 is code-point order.
 *
 * No index has a column that a usual report changes, so that PostgreSQL can keep the new version of a row on the same page
 * (HOT). An application was last seen when the latest of its instances was.
 */
export function usageTables({ table, index }: TableNames): string {
  return `
CREATE TABLE ${table('usage_counts')} (
  resolution smallint NOT NULL,
  flag text COLLATE "C" NOT NULL,
  application text COLLATE "C" NOT NULL,
  environment text COLLATE "C" NOT NULL,
  start bigint NOT NULL,
  variant text COLLATE "C" NOT NULL,
  yes bigint NOT NULL,
  no bigint NOT NULL,
  at bigint NOT NULL,
  is_public boolean NOT NULL,
  is_unknown boolean NOT NULL,
  PRIMARY KEY (resolution, flag, application, environment, start, variant)
) WITH (fillfactor = 70);

CREATE INDEX ${index('usage_counts_by_start')} ON ${table('usage_counts')} (resolution, start);
CREATE INDEX ${index('usage_counts_by_application')} ON ${table('usage_counts')} (application, flag)
  WHERE resolution = ${RESOLUTIONS.ever.code};

CREATE TABLE ${table('usage_last_seen')} (
  flag text COLLATE "C" NOT NULL PRIMARY KEY,
  at bigint NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE ${table('usage_applications')} (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  strategies text NOT NULL,
  description text NOT NULL,
  url text NOT NULL,
  color text,
  icon text NOT NULL,
  created_at bigint NOT NULL,
  dropped_names bigint NOT NULL,
  token text COLLATE "C",
  is_public boolean NOT NULL
);

CREATE INDEX ${index('usage_applications_by_token')} ON ${table('usage_applications')} (token) WHERE token IS NOT NULL;

CREATE TABLE ${table('usage_instances')} (
  application text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  client_ip text NOT NULL,
  sdk_version text NOT NULL,
  created_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  PRIMARY KEY (application, id)
) WITH (fillfactor = 70);

CREATE TABLE ${table('usage_batches')} (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  at bigint NOT NULL
);

CREATE INDEX ${index('usage_batches_by_time')} ON ${table('usage_batches')} (at);
`;
}

/** Ranks per millisecond, by which unknown names were ordered. */
const RANKS = 1000;

/**
 * Moves the rows of earlier versions. Those summed over shards, and stored the counts of variants as JSON lists of pairs, in
 * `usage_current` several, joined by commas. A row by second counted the reports that ended in it.
 *
 * @param from the version of the tables, at least 1
 */
export function moveUsage({ table }: TableNames, from: number): string {
  const { second, minute, hour, day, ever } = RESOLUTIONS;
  const recent = `(VALUES (${second.code}, ${second.length}), (${minute.code}, ${minute.length})) AS periods (code, length)`;
  const start = '(second - 1) * 1000 - (second - 1) * 1000 % length';
  const hours = from >= 4 ? ['usage_hours', 'usage_current'] : ['usage_hours'];
  const days = from >= 4 ? ['usage_days', 'usage_current'] : ['usage_days'];
  const timed = (code: number, length: number) => (name: string) => [
    `SELECT ${code}, flag, application, environment, start - start % ${length}, '', yes, no, start, false FROM ${table(name)}`,
    `SELECT ${code}, flag, application, environment, start - start % ${length}, pair ->> 0, (pair ->> 1)::bigint, 0, start, false
  FROM ${table(name)}, json_array_elements(concat('[', variants, ']')::json) AS list, json_array_elements(list) AS pair
  WHERE variants IS NOT NULL`,
  ];
  const sources = [
    `SELECT code, flag, '', '', ${start}, '', yes, no, second * 1000, false FROM ${table('counters')}, ${recent}`,
    `SELECT ${ever.code}, flag, application, '', 0, '', count, 0, (
    SELECT coalesce(max(at), 0) FROM ${table('last_seen')} AS seen WHERE seen.flag = used.flag), false
  FROM ${table('usage')} AS used`,
    ...(from >= 3
      ? [
          `SELECT code, flag, application, '', ${start}, '', yes, no, second * 1000, true FROM ${table('unknown_counters')}, ${recent}`,
          `SELECT ${ever.code}, flag, application, '', 0, '', count, 0, rank / ${RANKS}, true FROM ${table('unknown_names')}`,
          ...hours.flatMap(timed(hour.code, hour.length)),
          ...days.flatMap(timed(day.code, day.length)),
        ]
      : []),
    ...(from >= 4
      ? [`SELECT ${ever.code}, flag, application, '', 0, '', yes, no, start, false FROM ${table('usage_current')}`]
      : []),
  ];
  const owner = from >= 5 ? 'token, is_public' : 'NULL, false';
  const dropped = from >= 3 ? `(SELECT count FROM ${table('dropped_names')} WHERE application = name)` : 'NULL';
  return `
INSERT INTO ${table('usage_applications')}
  (name, strategies, description, url, color, icon, created_at, dropped_names, token, is_public)
SELECT name, strategies, description, url, color, icon, created_at, coalesce(${dropped}, 0), ${owner}
FROM ${table('applications')};

INSERT INTO ${table('usage_instances')} (application, id, client_ip, sdk_version, created_at, seen_at)
SELECT application, id, coalesce(client_ip, ''), coalesce(sdk_version, ''), created_at, seen_at FROM ${table('instances')};

INSERT INTO ${table('usage_last_seen')} (flag, at) SELECT flag, max(at) FROM ${table('last_seen')} GROUP BY flag;

INSERT INTO ${table('usage_counts')}
  (resolution, flag, application, environment, start, variant, yes, no, at, is_public, is_unknown)
SELECT resolution, flag, application, environment, start, variant, ${bounded('sum(yes)')}, ${bounded('sum(no)')},
  max(at), coalesce(bool_and(is_public), false), bool_and(is_unknown)
FROM (
  ${sources.join('\n  UNION ALL ')}
) AS moved (resolution, flag, application, environment, start, variant, yes, no, at, is_unknown)
LEFT JOIN ${table('usage_applications')} ON name = application
GROUP BY resolution, flag, application, environment, start, variant;

DROP TABLE ${tablesBefore(from).map(table).join(', ')};
DROP FUNCTION IF EXISTS ${table('add_variants')}(text, text);
`;
}

function tablesBefore(from: number): readonly string[] {
  return [
    ...['counters', 'last_seen', 'applications', 'instances', 'usage', 'metrics_writes'],
    ...(from >= 3 ? ['unknown_names', 'unknown_counters', 'dropped_names', 'usage_hours', 'usage_days'] : []),
    ...(from >= 4 ? ['usage_current'] : []),
  ];
}
