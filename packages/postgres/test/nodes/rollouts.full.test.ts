import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFlags, type Flags, type Rollout } from '@flags/core';
import { createRandom } from '../../../../test/seed.js';
import { until } from '../../../../test/until.js';
import { DEFAULT } from '../../../core/test/references.js';
import { postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';
import { endProcess, nodeProgram } from './node-process.js';

const NODES = 4;
const ROLLOUTS = 40;
const HOLD = 700;
const STEPS = [5, 25, 60, 100].map((rollout) => ({ rollout, hold: HOLD }));

describe('the rollouts of four nodes', () => {
  const database = ownDatabase();
  const program = nodeProgram('due-runner');
  afterAll(() => program.remove());

  const start = async (): Promise<ChildProcess> => {
    const node = program.start(JSON.stringify({ url: database.url(), ahead: 0 }));
    await once(node, 'message');
    return node;
  };

  async function begin(flags: Flags<string>, name: string): Promise<Rollout> {
    const ref = { ...DEFAULT, flag: name, environment: 'production' };
    await flags.createFlag(DEFAULT, { name });
    const { id } = await flags.addStrategy(ref, { name: 'flexibleRollout', parameters: { rollout: '1' } });
    await flags.enable(ref);
    return flags.startRollout({ ...ref, strategy: id }, { steps: STEPS });
  }

  it('take each step once, in order and not early, while nodes are killed, suspended and restarted', async () => {
    const flags = await createFlags({
      storage: postgresStorage(database.url()),
      usage: { interval: 0 },
      runSchedules: 'elsewhere',
      onError: () => undefined,
    });
    const random = createRandom();
    const nodes: ChildProcess[] = [];
    for (let node = 0; node < NODES; node++) nodes.push(await start());
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
          await endProcess(node);
          nodes[place] = await start();
        }
      }
    }
    const disturbing = nodes.map((_, place) => disturb(place));
    const started: Rollout[] = [];
    try {
      for (let rollout = 0; rollout < ROLLOUTS; rollout++) {
        started.push(await begin(flags, `flag-${rollout}`));
        await sleep(random() * 300);
      }
      await until(async () => (await flags.listRollouts({ state: 'done' })).items.length === ROLLOUTS);
    } finally {
      isDone = true;
      await Promise.all(disturbing);
      await Promise.all(nodes.map(endProcess));
    }
    for (const { id, ref, since } of started) {
      const { items } = await flags.listEvents({ flag: ref.flag, type: 'strategy-updated' });
      const percentages = items.map(({ data }) => (data as { parameters: { rollout: string } }).parameters.rollout);
      expect(percentages.reverse()).toEqual(['5', '25', '60', '100']);
      const times = [
        since,
        ...items
          .map(({ at }) => at)
          .reverse()
          .slice(1),
      ].map((at) => Date.parse(at));
      for (const [step, time] of times.slice(1).entries()) {
        expect(time - (times[step] ?? 0)).toBeGreaterThanOrEqual(HOLD);
      }
      expect(items.every(({ origin }) => origin === `rollout/${id}`)).toBe(true);
    }
    expect((await flags.listEvents({ type: 'rollout-stepped' })).total).toBe(3 * ROLLOUTS);
    expect((await flags.listEvents({ type: 'rollout-ended' })).total).toBe(ROLLOUTS);
    await flags.close();
  }, 300_000);
});
