export type { PgClient, PgPool, PgQuery, PgResult } from './driver.js';
