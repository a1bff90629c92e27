import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/* Runs both processes, and expects that the shop sees a change, and starts again from its file when the server is gone. */

const directory = mkdtempSync(join(tmpdir(), 'flags-followers-'));

function start(program: string, environment: NodeJS.ProcessEnv): ChildProcess {
  const env = { ...process.env, ...environment };
  return spawn(process.execPath, [join(import.meta.dirname, program)], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Resolves with the match, in what the process prints. */
async function printed({ stdout }: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let text = '';
  for await (const chunk of stdout ?? []) {
    text += chunk;
    const match = pattern.exec(text);
    if (match) return match;
  }
  throw new Error(`The process has ended without ${pattern}: ${text}`);
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  if (child.exitCode === null) await once(child, 'exit');
}

try {
  const server = start('server.js', { PORT: '0' });
  const [, url, token] = await printed(server, /FLAGS_URL=(\S+) FLAGS_TOKEN='([^']+)'/);
  const environment = { FLAGS_URL: url, FLAGS_TOKEN: token, FLAGS_CACHE: join(directory, 'flags-cache.json') };
  const shop = start('shop.js', environment);
  await printed(shop, /is off\n.*is on\n|is on\n.*is off\n/s);
  await stop(shop);
  assert.equal(shop.exitCode, 0);
  await stop(server);
  assert.equal(server.exitCode, 0);

  const alone = start('shop.js', environment);
  await printed(alone, /checkout is (on|off)\n/);
  await stop(alone);
  assert.equal(alone.exitCode, 0);
  console.log('ok: a follower sees changes, and starts from its file while the server is away');
} finally {
  rmSync(directory, { recursive: true, force: true });
}
