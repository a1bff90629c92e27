import type { TableNames } from '../schema/table-names.js';

/** Applications that are known are left alone: all nodes write them. */
export function seenApplications({ table }: TableNames): string {
  return `
applications AS (
  INSERT INTO ${table('applications')} (name, strategies, description, url, icon, created_at)
  SELECT name, '[]', '', '', '', created_at
  FROM writing, unnest($4::text[], $5::bigint[]) AS given (name, created_at) ORDER BY name COLLATE "C"
  ON CONFLICT (name) DO NOTHING RETURNING 1
)`;
}

/** Those that registered are renewed; rows are taken in the order of their names, those of reports among them. */
export function registeredApplications({ table }: TableNames): string {
  return `
registered AS (
  SELECT * FROM unnest($4::text[], $5::bigint[], $21::text[], $22::text[], $23::text[], $24::text[], $25::boolean[], $26::text[])
    AS given (name, created_at, strategies, description, url, color, has_color, icon)
),
applications AS (
  INSERT INTO ${table('applications')} AS known (name, strategies, description, url, color, icon, created_at)
  SELECT name, coalesce(strategies, '[]'), coalesce(description, ''), coalesce(url, ''), color, coalesce(icon, ''), created_at
  FROM writing, registered ORDER BY name COLLATE "C"
  ON CONFLICT (name) DO UPDATE SET (strategies, description, url, color, icon) = (
    SELECT coalesce(given.strategies, known.strategies), coalesce(given.description, known.description),
      coalesce(given.url, known.url), CASE WHEN given.has_color THEN given.color ELSE known.color END,
      coalesce(given.icon, known.icon)
    FROM registered AS given WHERE given.name = known.name)
  RETURNING 1
)`;
}
