import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Each is a program of its own: `src/followers/<name>/main.ts`. */
const PROGRAMS = ['unleash', 'scale', 'outages', 'cost'];

/** Runs the named program with its options, or all of them. Fails if one of them misses an aim. */
async function main(): Promise<void> {
  const [name, ...options] = process.argv.slice(2);
  if (name !== undefined && !PROGRAMS.includes(name))
    throw new Error(`No program ${name}. There are ${PROGRAMS.join(', ')}.`);
  console.log('# Followers\n');
  for (const program of name === undefined ? PROGRAMS : [name]) {
    const file = fileURLToPath(new URL(`${program}/main.js`, import.meta.url));
    const child = spawn(process.execPath, ['--expose-gc', file, ...options], {
      stdio: 'inherit',
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) process.exitCode = 1;
    console.log();
  }
}

await main();
