import core = require('@flags/core');
import sqlite = require('@flags/core/sqlite');
import router = require('@flags/express');
import provider = require('@flags/openfeature');
import openfeature = require('@openfeature/server-sdk');

export async function open(path: string) {
  const flags: core.Flags = await core.openFlags({ storage: sqlite.sqliteStorage(path) });
  await openfeature.OpenFeature.setProviderAndWait(provider.createFlagsProvider(flags));
  return router.createFlagsRouter(flags, { auth: 'none' });
}
