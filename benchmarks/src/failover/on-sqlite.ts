import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createRandom } from './random.js';
import { type RoundResult, runRound } from './round.js';

/** Three processes on one file: some are killed, the disk gets full, and their clocks jump. */
export async function runSqliteRound(directory: string, seed: number): Promise<RoundResult> {
  const random = createRandom(seed);
  const disk = join(directory, `disk-${seed}`);
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', disk]);
  const unmount = () => execFileSync('umount', ['-l', disk]);
  process.once('exit', unmount);
  const filler = join(disk, 'filler');
  try {
    return await runRound({
      storage: { kind: 'sqlite', path: join(disk, 'flags.db') },
      directory,
      nodes: 3,
      seed,
      hasJumpingClock: true,
      async disturb({ nodes, restart, acknowledged }) {
        await acknowledged(5);
        for (let kills = 1 + Math.floor(random() * 3); kills > 0; kills--) {
          const index = Math.floor(random() * nodes.length);
          await pause(random() * 300);
          await nodes[index]?.kill();
          await restart(index);
        }
        fill(filler);
        await pause(200 + random() * 500);
        rmSync(filler, { force: true });
        await acknowledged(10);
      },
    });
  } finally {
    process.off('exit', unmount);
    unmount();
  }
}

function fill(file: string): void {
  try {
    execFileSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=4k'], { stdio: 'ignore' });
  } catch {
    // The disk is full.
  }
}
