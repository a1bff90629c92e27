#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { isFlagsError } from '@flags/core';
import { grantSql, migrationSql } from './schema/sql.js';

const USAGE = `Prints the SQL that creates or migrates the tables of @flags/postgres.

  npx flags-postgres-sql [--schema public] [--prefix flags_] [--from 0]
  npx flags-postgres-sql --grant role [--schema public] [--prefix flags_]   the rights of that role
`;

const OPTIONS = {
  schema: { type: 'string' },
  prefix: { type: 'string' },
  from: { type: 'string' },
  grant: { type: 'string' },
  help: { type: 'boolean' },
} as const;

try {
  process.stdout.write(print());
} catch (error) {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (!isFlagsError(error) && !String(code).startsWith('ERR_PARSE_ARGS')) throw error;
  process.stderr.write(`${message}\n\n${USAGE}`);
  process.exitCode = 1;
}

function print(): string {
  const { schema, prefix, from, grant, help } = parseArgs({ options: OPTIONS }).values;
  if (help) return USAGE;
  const location = { ...(schema !== undefined && { schema }), ...(prefix !== undefined && { tablePrefix: prefix }) };
  if (grant !== undefined) return grantSql({ ...location, role: grant });
  return migrationSql({ ...location, ...(from !== undefined && { from: Number(from) }) });
}
