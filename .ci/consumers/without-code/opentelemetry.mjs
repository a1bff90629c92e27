import { memoryStorage, openFlags } from '@flags/core';
import { instrumentFlags, instrumentStorage } from '@flags/opentelemetry';
import { changeEverything } from './changes.mjs';

const flags = await openFlags({ storage: instrumentStorage(memoryStorage()), due: { run: true } });
const stop = instrumentFlags(flags);
await changeEverything(flags);
stop();
await flags.close();
console.log('opentelemetry without code from strings: ok');
