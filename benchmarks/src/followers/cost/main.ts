import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { median } from '../../median.js';
import { inTemporaryFolder } from '../../temporary-folder.js';
import { startChild } from '../child.js';
import type { ColdStart } from '../cold-process.js';
import type { EvaluationSettings } from '../evaluation-process.js';
import { Root } from '../fleet.js';
import { atMost, type Finding, figure, publish } from '../verdict.js';

const { values: given } = parseArgs({
  options: {
    /** Flags in the cache file of the start. */
    cached: { type: 'string', default: '10000' },
    flags: { type: 'string', default: '2000' },
    /** Starts, and processes of each kind for the evaluation. */
    rounds: { type: 'string', default: '7' },
    /** Seconds until a follower counts as idle: V8 has collected what the start left. */
    idle: { type: 'string', default: '60' },
  },
});

const rounds = Number(given.rounds);
const MEBIBYTE = 2 ** 20;
const RESIDENT = 90;
const MARGIN = 0.05;

const PROGRAM = { program: 'cold-process.js', execArgv: ['--no-warnings'] };

/** Starts from a cache file, each in a process of its own, while the root is away. */
async function startFromCache(folder: string): Promise<readonly Finding[]> {
  const root = await Root.start(join(folder, 'cached.db'), Number(given.cached));
  const settings = { url: root.url, token: await root.createToken(), cache: join(folder, 'cached.json') };
  const first = await startChild({ ...PROGRAM, settings });
  await first.ask('prepare');
  await first.end();
  await root.end();
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const child = await startChild({ ...PROGRAM, settings });
    const [start] = await child.ask<readonly ColdStart[]>('start', 1);
    if (!start?.isKnown) throw new Error('The follower has not started from its file.');
    times.push(start.time);
    await child.kill();
  }
  return [
    atMost(`start from a cache file of ${given.cached} flags, median of ${rounds}`, median(times), 500),
    figure('the slowest start', `${Math.max(...times).toFixed(0)} ms`),
  ];
}

async function idleMemory(settings: Settings): Promise<Finding> {
  const child = await startChild({ ...PROGRAM, settings });
  await child.ask('start', 1);
  await pause(Number(given.idle) * 1_000);
  const resident = (await child.ask<number>('resident')) / MEBIBYTE;
  await child.end();
  return {
    fact: `RSS of an idle follower of ${given.flags} flags`,
    figure: `${resident.toFixed(0)} MiB`,
    aim: `${RESIDENT} MiB`,
    holds: resident < RESIDENT,
  };
}

interface Settings {
  readonly url: string;
  readonly token: string;
  readonly cache: string;
}

/** The engine and a follower of the same flags, in alternating processes. */
async function compareEvaluation(file: string, { url, token }: Settings): Promise<readonly Finding[]> {
  const engine: number[] = [];
  const follower: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const pair = [
      () => measure({ file }).then((time) => engine.push(time)),
      () => measure({ url, token }).then((time) => follower.push(time)),
    ];
    for (const run of round % 2 === 0 ? pair : pair.reverse()) await run();
  }
  const ratio = median(follower) / median(engine);
  return [
    figure('an evaluation on the engine', `${median(engine).toFixed(0)} ns`),
    figure('an evaluation on a follower', `${median(follower).toFixed(0)} ns`),
    {
      fact: `follower beside the engine, median of ${rounds} processes each`,
      figure: `${(100 * (ratio - 1)).toFixed(1)} %`,
      aim: '± 5 %',
      holds: Math.abs(ratio - 1) <= MARGIN,
    },
  ];
}

async function measure(settings: EvaluationSettings): Promise<number> {
  const child = await startChild({
    program: 'evaluation-process.js',
    settings,
    execArgv: ['--no-warnings', '--expose-gc'],
  });
  const time = await child.ask<number>('measure');
  await child.kill();
  return time;
}

await inTemporaryFolder(async (folder) => {
  const cached = await startFromCache(folder);
  const file = join(folder, 'flags.db');
  const root = await Root.start(file, Number(given.flags));
  try {
    const settings = { url: root.url, token: await root.createToken(), cache: join(folder, 'idle.json') };
    const first = await startChild({ ...PROGRAM, settings });
    await first.ask('prepare');
    await first.end();
    const idle = await idleMemory(settings);
    publish('What a follower costs', [], [...cached, idle, ...(await compareEvaluation(file, settings))]);
  } finally {
    await root.end();
  }
});
