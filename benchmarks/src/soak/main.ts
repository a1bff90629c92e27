import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { machine } from '../machine.js';
import { populate } from '../population.js';
import { inTemporaryFolder } from '../temporary-folder.js';
import { startLoad } from './load.js';
import { startNode } from './node-process.js';
import { type Observation, observe } from './observation.js';
import { openProbe } from './probe.js';
import { describe } from './report.js';
import { FLAGS } from './requests.js';
import { verdictOn } from './verdict.js';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 20);
const SAMPLES = 80;
const CALIBRATION = 10_000;
/** The factor by which the flags' clock is faster: an hour, after which metrics are dropped, takes a minute. */
const HASTE = 60;
/** The retention of applications by that clock: two real minutes. */
const APPLICATION_RETENTION = 2 * 3_600_000;

/** Two processes on one file, under a mixed load at half of their maximum rate, until nothing grows. */
async function soak(directory: string): Promise<boolean> {
  const file = join(directory, 'flags.db');
  const clock = { start: Date.now(), haste: HASTE };
  const settings = { file, clock, retention: APPLICATION_RETENTION };
  const filling = await openFlags({ storage: sqliteStorage(file) });
  await populate(filling, { flags: FLAGS, projects: 1 });
  await filling.close();
  const nodes = [await startNode(settings), await startNode(settings)];
  const load = startLoad(nodes.map(({ origin }) => origin));
  const probe = openProbe(file);

  const maximum = await load.measure(CALIBRATION);
  load.hold(maximum / 2);
  console.error(`At most ${maximum.toFixed(0)} requests per second; half of that for ${MINUTES} minutes.`);
  const observations: Observation[] = [];
  const pause = (MINUTES * 60_000) / SAMPLES;
  for (let sample = 1; sample <= SAMPLES; sample++) {
    await setTimeout(pause);
    const observation = await observe({ nodes, load, probe });
    observations.push(observation);
    if (sample % 8 === 0) console.error(JSON.stringify(observation));
  }
  const outcome = await load.stop();
  await Promise.all(nodes.map((node) => node.stop()));
  probe.close();

  const verdict = verdictOn(observations, outcome);
  console.log(describe({ minutes: MINUTES, machine: machine(), maximum, outcome, observations, verdict }));
  return verdict.every(({ holds }) => holds);
}

if (!(await inTemporaryFolder(soak))) process.exitCode = 1;
