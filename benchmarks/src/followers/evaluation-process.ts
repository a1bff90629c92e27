import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { followFlags } from '@flags/follower';
import { median } from '../median.js';
import { placeAt } from '../population.js';
import { answerQuestions, settingsOfProcess } from './child.js';

export interface EvaluationSettings {
  /** The engine on this file, … */
  readonly file?: string;
  /** … or a follower of this server. */
  readonly url?: string;
  readonly token?: string;
}

/** The number of flags that are evaluated. */
const FLAGS = 1_000;
const USERS = 1_024;
const CALLS = 200_000;
const ROUNDS = 25;

const { file = '', url, token } = settingsOfProcess<EvaluationSettings>();
const flags = url
  ? await followFlags({ url, token, usage: { interval: 0 } })
  : await openFlags({ storage: sqliteStorage(file), environments: [{ name: 'production' }] });

const names = Array.from({ length: FLAGS }, (_, at) => placeAt(at).flag);
const countries = ['no', 'se', 'dk', 'de'];
const users = Array.from({ length: USERS }, (_, at) => ({
  userId: `${at}`,
  properties: { country: countries[at % countries.length] ?? '' },
}));

/**
 * Nanoseconds of one call: the median of the rounds. After a collection, as in every process that has run for a while: where
 * the compiled flags lie in a fresh heap changes the time of a call by up to two thirds, on the engine as on a follower.
 */
function measure(): number {
  for (const name of names) flags.isEnabled(name, users[0]);
  globalThis.gc?.();
  const times: number[] = [];
  let enabled = 0;
  for (let round = -5; round < ROUNDS; round++) {
    const begun = process.hrtime.bigint();
    for (let call = 0; call < CALLS; call++) {
      if (flags.isEnabled(names[call % FLAGS] ?? '', users[call % USERS])) enabled += 1;
    }
    if (round >= 0) times.push(Number(process.hrtime.bigint() - begun) / CALLS);
  }
  if (enabled === 0) throw new Error('No flag is on: nothing was measured.');
  return median(times);
}

answerQuestions({ measure }, () => flags.close());
