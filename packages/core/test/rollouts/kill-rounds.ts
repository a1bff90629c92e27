import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../../../test/seed.js';
import { until } from '../../../../test/until.js';
import type { Flags, Rollout } from '../../src/index.js';
import type { StartNode } from '../change-requests/kill-rounds.js';
import { MINUTE } from '../settable-clock.js';
import { addGradual } from './start.js';

const HOLD = 700;
const PERCENTAGES = [5, 25, 60, 100];
const STEPS = PERCENTAGES.map((percentage) => ({ percentage, hold: HOLD }));

interface Rounds {
  /** An engine of the test, which takes no steps. */
  readonly flags: Flags<string>;
  readonly start: StartNode;
  readonly nodes: number;
  readonly rollouts: number;
}

/**
 * Starts rollouts while nodes are killed, suspended and restarted with clocks minutes apart. Expects that each step is taken
 * once, in order and not early. Half of the nodes are always ahead: they go on where another one of them has stepped.
 */
export async function expectStepsOnce({ flags, start, nodes: count, rollouts }: Rounds): Promise<void> {
  const random = createRandom();
  const startReady = async (place: number) => {
    const clocks = place % 2 === 0 ? [5] : [-5, 0, 5];
    const node = start((clocks[Math.floor(random() * clocks.length)] ?? 0) * MINUTE);
    await once(node, 'message');
    return node;
  };
  const nodes: ChildProcess[] = [];
  for (let node = 0; node < count; node++) nodes.push(await startReady(node));
  let isDone = false;
  async function disturb(place: number): Promise<void> {
    while (!isDone) {
      await sleep(random() * 1_000);
      const node = nodes[place];
      if (!node || isDone) return;
      if (random() < 0.5) {
        node.kill('SIGSTOP');
        await sleep(random() * 1_000);
        node.kill('SIGCONT');
      } else {
        await end(node);
        nodes[place] = await startReady(place);
      }
    }
  }

  const disturbing = nodes.map((_, place) => disturb(place));
  const started: Rollout[] = [];
  try {
    for (let rollout = 0; rollout < rollouts; rollout++) {
      const ref = await addGradual(flags, '1', `flag-${rollout}`);
      started.push(await flags.rollouts.start(ref, { steps: STEPS }));
      await sleep(random() * 300);
    }
    await until(async () => (await flags.rollouts.list()).items.length === 0);
  } finally {
    isDone = true;
    await Promise.all(disturbing);
    await Promise.all(nodes.map(end));
  }
  for (const { ref } of started) {
    const { items } = await flags.events.list({ flag: ref.flag, type: 'strategy-updated' });
    const updates = items.toReversed();
    const percentages = updates.map(({ data }) => (data as { parameters: { rollout: string } }).parameters.rollout);
    expect(percentages).toEqual(PERCENTAGES.map(String));
    const times = updates.map(({ at }) => Date.parse(at));
    for (const [step, time] of times.slice(1).entries()) {
      expect(time - (times[step] ?? 0)).toBeGreaterThanOrEqual(HOLD);
    }
    // The first one is the start.
    expect(updates.slice(1).every(({ origin }) => origin === 'rollout')).toBe(true);
  }
  expect((await flags.events.list({ type: 'rollout-stepped' })).total).toBe(3 * rollouts);
  expect((await flags.events.list({ type: 'rollout-ended' })).total).toBe(rollouts);
}

async function end(node: ChildProcess): Promise<void> {
  if (node.exitCode !== null || node.signalCode !== null) return;
  const exit = once(node, 'exit');
  node.kill('SIGKILL');
  await exit;
}
