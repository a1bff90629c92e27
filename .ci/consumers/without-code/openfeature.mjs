import assert from 'node:assert/strict';
import { memoryStorage, openFlags } from '@flags/core';
import { createFlagsProvider } from '@flags/openfeature';
import { OpenFeature } from '@openfeature/server-sdk';
import { changeEverything } from './changes.mjs';

const flags = await openFlags({ storage: memoryStorage(), due: { run: true } });
await changeEverything(flags);
await OpenFeature.setProviderAndWait(createFlagsProvider(flags));
assert.equal(await OpenFeature.getClient().getBooleanValue('a', true), false);
await OpenFeature.close();
await flags.close();
console.log('openfeature without code from strings: ok');
