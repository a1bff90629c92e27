// Says what runs, and for how long.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Milliseconds between two lines: a wait is never silent for ten seconds. */
const INTERVAL = 8_000;

/**
 * Prints a title, then every few seconds what happens now, until the returned function is called. It prints the duration.
 *
 * @param title what is done, and after a comma an estimate, such as `Installing the dependencies, up to a minute`
 * @param describe returns what happens now
 */
export function startProgress(title, describe) {
  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 1000);
  console.log(`${title} …`);
  const timer = setInterval(() => console.log(`  ${seconds()} s: ${describe()}`), INTERVAL);
  return ({ isDone = true } = {}) => {
    clearInterval(timer);
    // Two may run at the same time.
    if (isDone) console.log(`  done in ${seconds()} s: ${title.split(',')[0]}`);
  };
}

/**
 * Runs a command with progress. Resolves to its exit code.
 *
 * @param activity what the command does at first
 * @param onLine called with each line of its output; may return what the command does now
 */
export async function runWithProgress(title, [command, ...options], { activity: first, onLine, ...settings }) {
  let activity = first;
  const stop = startProgress(title, () => activity);
  const child = spawn(command, options, { ...settings, stdio: ['ignore', 'pipe', 'pipe'] });
  // Two commands may run side by side: one that fails ends the other.
  process.once('exit', () => child.kill());
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      activity = onLine(line) ?? activity;
    });
  }
  const [code] = await once(child, 'close');
  stop({ isDone: code === 0 });
  return code ?? 1;
}
