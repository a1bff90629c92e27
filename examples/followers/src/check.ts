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

/** Resolves with what the process has printed, as soon as it is enough. */
function printed({ stdout }: ChildProcess, isEnough: (text: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    stdout?.on('data', (chunk) => {
      text += chunk;
      if (isEnough(text)) resolve(text);
    });
    stdout?.once('end', () => reject(new Error(`The process has ended too early. It has printed: ${text}`)));
  });
}

const isLine = (text: string) => text.includes('\n');
const isOnAndOff = (text: string) => text.includes('is on\n') && text.includes('is off\n');

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  if (child.exitCode === null) await once(child, 'exit');
}

try {
  const server = start('server.js', { PORT: '0' });
  const [, url, token] = /^FLAGS_URL=(\S+) FLAGS_TOKEN='([^']+)'/.exec(await printed(server, isLine)) ?? [];
  const environment = { FLAGS_URL: url, FLAGS_TOKEN: token, FLAGS_CACHE: join(directory, 'flags-cache.json') };
  const shop = start('shop.js', environment);
  await printed(shop, isOnAndOff);
  await stop(shop);
  assert.equal(shop.exitCode, 0);
  await stop(server);
  assert.equal(server.exitCode, 0);

  const alone = start('shop.js', environment);
  assert.match(await printed(alone, isLine), /^checkout is (on|off)\n/);
  await stop(alone);
  assert.equal(alone.exitCode, 0);
  console.log('ok: a follower sees changes, and starts from its file while the server is away');
} finally {
  rmSync(directory, { recursive: true, force: true });
}
