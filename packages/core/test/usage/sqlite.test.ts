import { usageConformance } from '@flags/core/testing';
import { usageFile } from './sqlite-file.js';

usageConformance('SQLite', async () => {
  const file = await usageFile();
  return { usage: file.open().usage, again: () => file.open().usage, refuse: file.refuse, dispose: file.remove };
});
