/** Whether `FLAGS_DB` is the connection string of a PostgreSQL database. */
export function isPostgres(database: string): boolean {
  return /^postgres(ql)?:\/\//.test(database);
}

/**
 * Returns `FLAGS_DB` for logs: connection strings without users, passwords and parameters, which may contain secrets.
 */
export function nameOfDatabase(database: string): string {
  if (!isPostgres(database)) return database;
  const url = URL.canParse(database) ? new URL(database) : undefined;
  return url ? `postgres://${url.host}${url.pathname}` : 'postgres://…';
}
