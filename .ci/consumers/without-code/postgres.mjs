import { openFlags } from '@flags/core';
import { postgresStorage } from '@flags/postgres';
import { changeEverything } from './changes.mjs';

const flags = await openFlags({ storage: postgresStorage(process.env.DATABASE_URL), due: { run: true } });
await changeEverything(flags);
await flags.close();
console.log('postgres without code from strings: ok');
