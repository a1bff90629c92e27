// Both formats in one process are one engine. Node 20.19 and newer loads the ES modules twice by the same address; with
// --no-experimental-require-module there are two copies, which work together.
const assert = require('node:assert/strict');
const core = require('@flags/core');
const { sqliteStorage } = require('@flags/core/sqlite');
const { createFlagsProvider } = require('@flags/openfeature');
const express = require('@flags/express');

async function main() {
  const modules = {
    core: await import('@flags/core'),
    http: await import('@flags/http'),
    sqlite: await import('@flags/core/sqlite'),
  };
  const isOneCopy = core.openFlags === modules.core.openFlags;
  assert.equal(isOneCopy, !process.execArgv.includes('--no-experimental-require-module'));
  assert.equal(core.FlagsError?.name ?? 'FlagsError', 'FlagsError');

  const pairs = [
    [core, modules.sqlite.sqliteStorage(':memory:')],
    [modules.core, sqliteStorage(':memory:')],
    [core, modules.core.memoryStorage()],
    [modules.core, core.memoryStorage()],
  ];
  for (const [{ openFlags }, storage] of pairs) {
    const flags = await openFlags({ storage });
    await flags.createFlag({ project: 'default' }, { name: 'packed' });
    for (const { isFlagsError } of [core, modules.core]) {
      await assert.rejects(flags.createFlag({ project: 'default' }, { name: 'packed' }), (error) => {
        assert.match(error.stack, /^FlagsError: /);
        return isFlagsError(error) && error.code === 'flag_exists';
      });
    }
    assert.equal(typeof express.createFlagsRouter(flags, { auth: 'none' }), 'function');
    assert.ok(createFlagsProvider(flags));
    const handler = modules.http.toFetchHandler(modules.http.createFlagsApi(flags, { auth: 'none' }));
    const created = await handler(
      new Request('http://localhost/api/admin/projects/default/features', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"name":"packed"}',
      }),
    );
    assert.equal(created.status, 409);
    await flags.close();
  }
  console.log(`both formats, ${isOneCopy ? 'one copy' : 'two copies'}: ok`);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
