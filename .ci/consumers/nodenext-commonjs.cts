import core = require('@flags/core');
import sqlite = require('@flags/core/sqlite');
import router = require('@flags/express');

export async function open(path: string) {
  const flags: core.Flags = await core.createFlags({ storage: sqlite.sqliteStorage(path) });
  return router.createFlagsRouter(flags, { auth: 'none' });
}
