import { randomUUID } from 'node:crypto';
import { createFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { createApp } from './app.js';

const flags = await createFlags({ storage: sqliteStorage('./shop.db') });
const server = createApp(flags, randomUUID()).listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log('Log in by POST /login; the flags are at /internal/flags/api/admin', server.address());
});

process.once('SIGTERM', () => server.close(() => void flags.close()));
