// The program that bundles.mjs bundles for the PostgreSQL storage. Nothing listens on the port: the storage has found its driver
// if it says so.
import assert from 'node:assert/strict';
import { postgresStorage } from '@flags/postgres';

assert.rejects(postgresStorage('postgres://127.0.0.1:1/flags'), { code: 'storage_unavailable' }).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
