// The program that bundles.mjs bundles: the engine, the router and the SQLite storage.
import assert from 'node:assert/strict';
import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { createFlagsApi, toFetchHandler } from '@flags/http';

const path = process.argv[2] ?? 'bundled.db';
sqliteStorage(path)
  .then((storage) => openFlags({ storage }))
  .then(async (flags) => {
    await flags.createFlag({ project: 'default' }, { name: 'bundled' });
    const handler = toFetchHandler(createFlagsApi(flags, { auth: 'none' }));
    const response = await handler(new Request('http://localhost/api/admin/projects/default/features'));
    assert.deepEqual(
      (await response.json()).features.map(({ name }) => name),
      ['bundled'],
    );
    await flags.close();
  });
