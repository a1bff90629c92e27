import { setTimeout as pause } from 'node:timers/promises';
import { type Flags, openFlags } from '@flags/core';
import { until } from '../../../../../test/until.js';
import { LIFE } from '../../../../core/test/storage/sqlite/flag-life.js';
import { postgresStorage } from '../../../src/index.js';

let isStopping = false;

/** Takes flags through their life cycle, three at once, until it must stop. Reports the outcome of each change. */
async function write(connectionString: string): Promise<void> {
  const silent = () => undefined;
  const flags = await openFlags({ storage: postgresStorage(connectionString), onError: silent, onProblem: silent });
  const line = async (name: string) => {
    for (let number = 0; !isStopping; number++) await lead(flags, `${process.pid}-${name}-${number}`);
  };
  process.on('message', () => {
    isStopping = true;
  });
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
  await Promise.all(['a', 'b', 'c'].map(line));
  await until(async () => (await flags.refresh()).state === 'current');
  await flags.close();
  process.disconnect?.();
}

/** Runs to the end, or to a change with an unknown outcome. */
async function lead(flags: Flags, flag: string): Promise<void> {
  for (const [event, change] of LIFE) {
    const outcome = await carryOut(() => change(flags, flag));
    process.send?.({ outcome, event: `${flag} ${event}` });
    if (outcome !== 'acknowledged') return;
  }
}

/**
 * Repeats a change that fails with `storage_unavailable`. Nothing has changed then, so the repetition must succeed without
 * meeting its own change. Other codes are the outcome.
 */
async function carryOut(change: () => Promise<unknown>): Promise<string> {
  for (;;) {
    try {
      await change();
      return 'acknowledged';
    } catch (error) {
      const code = String((error as { readonly code?: unknown }).code ?? error);
      if (code !== 'storage_unavailable') return code;
    }
    process.send?.({ outcome: 'failed' });
    await pause(20);
  }
}

void write(process.argv[2] ?? '');
