import assert from 'node:assert/strict';
import { memoryStorage, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { storageConformance } from '@flags/core/testing';
import { createFlagsRouter } from '@flags/express';
import { followFlags } from '@flags/follower';
import { createFlagsApi, toFetchHandler } from '@flags/http';
import { createFlagsProvider } from '@flags/openfeature';
import { instrumentFlags, instrumentStorage } from '@flags/opentelemetry';
import { postgresStorage } from '@flags/postgres';
import { OpenFeature } from '@openfeature/server-sdk';
import express from 'express';

for (const storage of [memoryStorage(), sqliteStorage('esm.db')]) {
  const flags = await openFlags({ storage: instrumentStorage(await storage) });
  instrumentFlags(flags);
  await flags.createFlag({ project: 'default' }, { name: 'packed' });
  assert.equal((await flags.listFlags({ project: 'default' })).items.length, 1);
  assert.ok(express().use(createFlagsRouter(flags, { auth: 'none' })));
  const handler = toFetchHandler(createFlagsApi(flags, { auth: 'none' }));
  assert.equal((await handler(new Request('http://localhost/api/admin/projects'))).status, 200);
  await OpenFeature.setProviderAndWait(createFlagsProvider(flags));
  assert.equal(await OpenFeature.getClient().getBooleanValue('packed', true), false);
  await OpenFeature.close();
  await flags.close();
}
assert.equal(typeof storageConformance, 'function');
// The driver is the consumer's to install, and this one has not.
await assert.rejects(postgresStorage('postgres://localhost'), { code: 'storage_unsupported' });
await assert.rejects(followFlags({ url: 'http://127.0.0.1:9', token: 'x', startTimeout: 50 }), {
  code: 'upstream_unavailable',
});
console.log('ESM: ok');
