import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Flags, isFlagsError, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { postgresStorage } from '@flags/postgres';
import type { Attempt, Entry } from './checker/history.js';
import { createRandom, pick } from './random.js';
import { FLAGS, monotonic, type NodeOptions, type NodeStorage, PAIRS } from './workload.js';

const options = JSON.parse(process.argv[2] ?? '') as NodeOptions;
const { name: node } = options;
const random = createRandom(options.seed);
let isStopping = false;

/** Synchronous, so that a killed process has logged what it was told. */
function log(entry: Entry): void {
  appendFileSync(options.log, `${JSON.stringify(entry)}\n`);
}

function openStorage(storage: NodeStorage) {
  if (storage.kind === 'sqlite') return sqliteStorage({ path: storage.path, busyTimeout: 2_000 });
  const { kind: _, ...given } = storage;
  return postgresStorage({ ...given, connectTimeout: 2_000, queryTimeout: 4_000, outcomeTimeout: 4_000 });
}

let offset = 0;
/** A clock that jumps by up to a day, if the round asks for it. */
const now = () => {
  if (options.hasJumpingClock && random() < 0.02) offset = (random() - 0.5) * 2 * 86_400_000;
  return new Date(Date.now() + offset);
};

async function open(): Promise<Flags> {
  for (;;) {
    try {
      return await openFlags({
        storage: openStorage(options.storage),
        pollInterval: 500,
        now,
        onProblem: () => undefined,
        onError(error) {
          if (!isFlagsError(error) || error.code !== 'history_lost') return;
          log({ kind: 'reset', node, time: monotonic(), of: 'evaluation' });
        },
      });
    } catch {
      await pause(200);
    }
  }
}

/** Changes a pair of flags, and repeats a change with the same id. Gives some changes up that have failed. */
async function changeOnce(flags: Flags): Promise<void> {
  const pair = pick(PAIRS, random);
  const id = randomUUID();
  const changes = pair.map((flag) => {
    const payload = { type: 'string', value: id } as const;
    return { op: 'setVariants', ref: { project: 'default', flag }, input: [{ name: 'value', payload }] } as const;
  });
  for (;;) {
    const start = monotonic();
    const attempt: Pick<Attempt, 'kind' | 'node' | 'id' | 'flags'> = { kind: 'change', node, id, flags: pair };
    try {
      const { revisions } = await flags.apply(changes, { id });
      const named = Object.fromEntries(pair.map((flag) => [flag, revisions[`flag/${flag}`] ?? 0]));
      log({ ...attempt, start, end: monotonic(), outcome: 'ok', revisions: named });
      return;
    } catch (error) {
      const code = isFlagsError(error) ? error.code : String(error);
      const outcome = code === 'outcome_unknown' ? 'unknown' : 'failed';
      log({ ...attempt, start, end: monotonic(), outcome, code });
      if (outcome === 'unknown') isOpen.add(id);
      // An unknown outcome is resolved, also by an attempt that says that nothing has changed now.
      if (!isOpen.has(id) && random() < 0.3) return;
      await pause(100 + random() * 200);
    }
  }
}

/** Change sets whose outcome is unknown. They are repeated until they succeed. */
const isOpen = new Set<string>();

async function changeOn(flags: Flags): Promise<void> {
  while (!isStopping) {
    await changeOnce(flags);
    await pause(random() * 60);
  }
}

async function readOn(flags: Flags): Promise<void> {
  while (!isStopping) {
    const flag = pick(FLAGS, random);
    const start = monotonic();
    try {
      const { revision, variants } = await flags.getFlag({ project: 'default', flag });
      log({ kind: 'read', node, flag, start, end: monotonic(), revision, value: variants[0]?.payload?.value ?? '' });
    } catch {
      await pause(100);
    }
    await pause(random() * 60);
  }
}

/** Milliseconds after which an unchanged evaluation is logged too. */
const REPEAT = 500;

function evaluateOn(flags: Flags): () => void {
  let last = '';
  let logged = 0;
  function evaluate(isLast: boolean): void {
    const time = monotonic();
    try {
      const bound = flags.forContext({ userId: node });
      const values = Object.fromEntries(FLAGS.map((flag) => [flag, bound.getVariant(flag).payload?.value ?? '']));
      const text = JSON.stringify(values);
      if (!isLast && text === last && time - logged < REPEAT * 1e6) return;
      last = text;
      logged = time;
      log({ kind: 'view', node, time, values, ...(isLast && { isLast }) });
    } catch (error) {
      log({ kind: 'evaluation-failed', node, time, error: String(error) });
    }
  }
  const timer = setInterval(evaluate, 10, false);
  return () => {
    clearInterval(timer);
    evaluate(true);
  };
}

async function run(): Promise<void> {
  const flags = await open();
  const keyOf = (id: number, changeSet: string | null) => `${id}/${changeSet}`;
  log({ kind: 'subscribed', node, time: monotonic() });
  flags.subscribe(({ id, changeSet }) => log({ kind: 'event', node, time: monotonic(), key: keyOf(id, changeSet) }), {
    after: options.after,
    onHistoryLost: (position) => {
      log({ kind: 'reset', node, time: monotonic(), of: 'subscriber', ...(position && { after: position }) });
    },
  });
  const lastEvaluation = evaluateOn(flags);
  const loops = [changeOn(flags), changeOn(flags), readOn(flags)];
  process.on('message', async (message) => {
    if (message === 'stop') {
      isStopping = true;
      await Promise.all(loops);
      process.send?.('stopped');
      return;
    }
    while ((await flags.refresh()).state !== 'current') await pause(100);
    // The subscriber polls on its own.
    await pause(1_500);
    lastEvaluation();
    await flags.close();
    process.send?.('ended');
    process.disconnect();
  });
  // The starter has ended.
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

void run();
