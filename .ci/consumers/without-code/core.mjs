import assert from 'node:assert/strict';
import { defineFlags, memoryStorage, openFlags } from '@flags/core';
import { compileSync } from '@flags/core/evaluate';
import { patterns } from '@flags/core/evaluate/patterns';
import { sqliteStorage } from '@flags/core/sqlite';
import { changeEverything } from './changes.mjs';

const schema = defineFlags({ a: { variants: ['blue'] } });
for (const storage of [memoryStorage(), sqliteStorage('without-code-core.db')]) {
  const flags = await openFlags({ storage, schema, due: { run: true }, onDrift() {} });
  await changeEverything(flags);
  await flags.close();
}
await assert.rejects(openFlags({ storage: memoryStorage(), pollInterval: 'x' }), { code: 'invalid_input' });

const constraints = [{ contextName: 'userId', operator: 'REGEX', value: '^a' }];
const feature = { name: 'a', enabled: true, strategies: [{ name: 'default', parameters: {}, constraints }] };
const document = compileSync({ version: 2, features: [feature], segments: [] }, { patterns });
assert.equal(document.isEnabled('a', { userId: 'ada' }), true);
console.log('core without code from strings: ok');
