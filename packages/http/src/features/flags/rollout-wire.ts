import type { EndedRollout, Rollout } from '@flags/core';
import { ROLLOUT_STATES, rolloutToWire as startedToWire } from '@flags/core/integration/http';
import {
  boolean,
  count,
  example,
  listOf,
  objectComponent,
  optionalTimestamp,
  strictObject,
  text,
  timestamp,
} from '../../messages/schema.js';

export const failureSchema = example(null, {
  anyOf: [
    strictObject({ code: text, message: text, details: listOf(strictObject({ message: text }, { path: text })) }),
    { type: 'null' },
  ],
});

const percentage = example(25, { type: 'number', minimum: 0, maximum: 100 });
const hold = {
  ...example(3_600_000, { anyOf: [count, { type: 'null' }] }),
  description: 'Milliseconds until the next step; null: until a person advances the rollout.',
};

const members = {
  steps: listOf(strictObject({ percentage, hold })),
  step: { ...example(0, count), description: 'The index of the step that is taken.' },
  since: { ...timestamp, description: 'When the step was taken.' },
  state: example('running', { type: 'string', enum: ROLLOUT_STATES }),
  guarded: { ...boolean, description: 'Only a process with `due.guard` takes its steps.' },
  author: strictObject({ name: example('ada@example.org') }),
  startedFrom: {
    ...example(
      { value: 5 },
      { anyOf: [strictObject({}, { value: { type: ['string', 'number', 'boolean', 'null'] } }), { type: 'null' }] },
    ),
    description: 'The parameter that a rollback restores: `{}` if it was absent, null without parameters.',
  },
  failure: { ...failureSchema, description: 'Why its next step was refused; null unless that paused it.' },
};

/** The rollout of a strategy, in the strategy. */
export const strategyRolloutSchema = objectComponent('StrategyRollout', members);

const ref = strictObject({ project: text, flag: text, environment: text, strategy: text });

/** A rollout on its own. */
export const rolloutSchema = objectComponent('Rollout', {
  ref,
  percentage: { ...percentage, description: 'The percentage now.' },
  nextAt: {
    ...optionalTimestamp,
    description: 'When the next step is due, or the rollout is done; null if its hold has no end.',
  },
  ...members,
});

/** A strategy whose rollout has ended. */
export const endedRolloutSchema = objectComponent('EndedRollout', { ref, percentage, nextAt: { type: 'null' } });

export function rolloutToWire(rollout: Rollout | EndedRollout) {
  return rollout.state === undefined ? rollout : startedToWire(rollout);
}
