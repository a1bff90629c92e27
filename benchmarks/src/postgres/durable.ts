/** PostgreSQL's defaults: acknowledged commits survive a power cut. */
export const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };
