// A better-sqlite3 that would crash is refused before it opens a database: here, loading it ends the process.
const assert = require('node:assert/strict');

async function main() {
  const copies = [require('@flags/core/sqlite'), await import('@flags/core/sqlite')];
  for (const { sqliteStorage } of copies) {
    await assert.rejects(async () => sqliteStorage('refused.db'), {
      code: 'storage_unsupported',
      message: /^better-sqlite3 13\.0\.0 crashes on Node .* when it opens a database\. Install better-sqlite3@12/,
    });
  }
  console.log(`a driver that would crash, ${new Set(copies.map((one) => one.sqliteStorage)).size} copies: refused`);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
