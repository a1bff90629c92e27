import { randomUUID } from 'node:crypto';
import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { createApp } from './app.js';

const flags = await openFlags({ storage: sqliteStorage('./shop.db'), due: { run: true } });
// Another editor approves what customers would see. Without this call, every editor changes production alone.
await flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
const port = Number(process.env.PORT ?? 3000);
const server = createApp(flags, randomUUID()).listen(port, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${port}: log in at /login; the admin page is at /internal/flags/ui/`);
});

process.once('SIGTERM', () => {
  // Also ends the streams, for which the server would wait.
  void flags.close();
  server.close();
});
