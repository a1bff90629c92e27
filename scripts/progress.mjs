// Runs a command, and says what runs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Milliseconds between two lines: npm start promises one every ten seconds. */
const INTERVAL = 8_000;

/**
 * Runs a command, and prints its title with an estimate, then what it does every few seconds, then how long it took. Resolves
 * to its exit code.
 *
 * @param title such as `Installing the dependencies, up to a minute`
 * @param activity what the command does at first
 * @param onLine called with each line of its output; may return what the command does now
 */
export async function runWithProgress(title, [command, ...options], { activity: first, onLine, ...settings }) {
  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 1000);
  let activity = first;
  console.log(`${title} …`);
  const timer = setInterval(() => console.log(`  ${seconds()} s: ${activity}`), INTERVAL);
  const child = spawn(command, options, { ...settings, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      activity = onLine(line) ?? activity;
    });
  }
  try {
    const [code] = await once(child, 'close');
    if (code === 0) console.log(`  done in ${seconds()} s`);
    return code ?? 1;
  } finally {
    clearInterval(timer);
  }
}
