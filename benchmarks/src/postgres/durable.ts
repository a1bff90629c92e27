/** PostgreSQL's defaults: what it has acknowledged survives a loss of power. */
export const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };
