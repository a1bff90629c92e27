const assert = require('node:assert/strict');
const { openFlags, memoryStorage } = require('@flags/core');
const { sqliteStorage } = require('@flags/core/sqlite');
const { storageConformance } = require('@flags/core/testing');
const { createFlagsRouter } = require('@flags/express');
const { followFlags } = require('@flags/follower');
const { createFlagsApi, toFetchHandler } = require('@flags/http');
const { createFlagsProvider } = require('@flags/openfeature');
const { instrumentFlags, instrumentStorage } = require('@flags/opentelemetry');
const { postgresStorage } = require('@flags/postgres');
const { OpenFeature } = require('@openfeature/server-sdk');
const express = require('express');

async function main() {
  for (const storage of [memoryStorage(), sqliteStorage('commonjs.db')]) {
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
  console.log('CommonJS: ok');
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
