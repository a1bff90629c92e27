import { RESOLUTIONS } from '@flags/core/integration/postgres';
import type { TableNames } from '../tables.js';

/**
 * The tables of usage. Text is compared by bytes, which in UTF-8 is code-point order.
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
  token text COLLATE "C"
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
