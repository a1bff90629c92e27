import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../../../test/seed.js';
import { until } from '../../../../test/until.js';
import { type Flags, paginate } from '../../src/index.js';
import { DEFAULT } from '../references.js';

const MINUTE = 60_000;
/** How far ahead the clock of a node is. */
const CLOCKS = [-5 * MINUTE, 0, 5 * MINUTE] as const;
/** Longer than a poll, so that nodes know a request when it is due. */
const NOTICE = 6_000;
/** A poll, two seconds, and the time for which a suspended node may hold a lock. */
const LATEST = 5_000 + 2_000 + 2_000;

/** Starts a node that does what is due, with a clock that is some milliseconds ahead. It tells when it is ready. */
export type StartNode = (ahead: number) => ChildProcess;

interface Rounds {
  /** An engine of the test, which carries nothing out. */
  readonly flags: Flags<string>;
  readonly start: StartNode;
  readonly nodes: number;
  readonly rounds: number;
}

/**
 * Makes a change request every half a second, each due by the clock of one of the nodes, while nodes are killed, suspended and
 * started again with other clocks. One node runs throughout, with the clock of the test. Expects that each is applied once,
 * never early by the clock of the node that applied it, and in time by the clock of the node that runs throughout.
 */
export async function expectExactlyOnce({ flags, start, nodes, rounds }: Rounds): Promise<void> {
  const random = createRandom();
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const running: ChildProcess[] = [];
  const startReady = async (ahead: number) => {
    const node = start(ahead);
    await once(node, 'message');
    return node;
  };
  const anchor = await startReady(0);
  for (let count = 1; count < nodes; count++) running.push(await startReady(pick(CLOCKS)));
  let isDone = false;

  async function disturb(place: number): Promise<void> {
    while (!isDone) {
      await sleep(random() * 1_500);
      const node = running[place];
      if (!node || isDone) return;
      if (random() < 0.5) {
        node.kill('SIGSTOP');
        await sleep(random() * 2_000);
        node.kill('SIGCONT');
      } else {
        await end(node);
        running[place] = await startReady(pick(CLOCKS));
      }
    }
  }

  const made = new Map<string, { readonly at: string; readonly flag: string }>();
  const endedAfter = new Map<string, number>();
  async function watch(): Promise<void> {
    while (!isDone) {
      for await (const { id, state, at } of paginate((page) => flags.changeRequests.list({}, page))) {
        if (state === 'approved' || endedAfter.has(id)) continue;
        endedAfter.set(id, Date.now() - Date.parse(at ?? ''));
      }
      await sleep(100);
    }
  }

  const disturbing = running.map((_, place) => disturb(place));
  const watching = watch();
  try {
    for (let round = 0; round < rounds; round++) {
      const flag = `round-${round}`;
      await flags.createFlag(DEFAULT, { name: flag });
      const at = new Date(Date.now() + pick(CLOCKS.slice(1)) + NOTICE).toISOString();
      const place = { ...DEFAULT, flag, environment: 'production' };
      const change = { op: 'addStrategy', ref: place, input: { name: 'default' } } as const;
      const { id } = await flags.changeRequests.create([change], { at, actor: flag });
      made.set(id, { at, flag });
      await sleep(random() * 1_000);
    }
    // The rest is due by a clock that is ahead.
    running.push(await startReady(5 * MINUTE));
    await until(() => endedAfter.size === made.size);
  } finally {
    isDone = true;
    await Promise.all([...disturbing, watching]);
    await Promise.all([anchor, ...running].map(end));
  }

  for (const [id, { at, flag }] of made) {
    const request = await flags.changeRequests.get({ changeRequest: id });
    expect(request).toMatchObject({ state: 'applied', changeSet: expect.any(String) });
    const { items } = await flags.events.list({ flag, type: 'strategy-added' });
    expect(items).toMatchObject([{ origin: `change-request/${id}`, actor: flag, changeSet: request.changeSet }]);
    expect(Date.parse(items[0]?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(at ?? ''));
    expect(endedAfter.get(id)).toBeLessThan(LATEST);
  }
  expect((await flags.events.list({ type: 'change-request-ended' })).total).toBe(made.size);
}

async function end(node: ChildProcess): Promise<void> {
  if (node.exitCode !== null || node.signalCode !== null) return;
  const exit = once(node, 'exit');
  node.kill('SIGKILL');
  await exit;
}
