import { metricsConformance } from '@flags/core/testing';
import { sqliteFile } from './sqlite-file.js';

metricsConformance('SQLite', async () => {
  const file = await sqliteFile();
  return { metrics: file.open().metrics, again: () => file.open().metrics, refuse: file.refuse, dispose: file.remove };
});
