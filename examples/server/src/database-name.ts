/** Whether `FLAGS_DB` is the connection string of a PostgreSQL database. */
export function isPostgres(database: string): boolean {
  return /^postgres(ql)?:\/\//.test(database);
}

/**
 * What may be said of `FLAGS_DB` in a log: connection strings without their users, passwords and parameters, which may hold
 * secrets too.
 */
export function nameOfDatabase(database: string): string {
  if (!isPostgres(database)) return database;
  const url = URL.canParse(database) ? new URL(database) : undefined;
  return url ? `postgres://${url.host}${url.pathname}` : 'postgres://…';
}
