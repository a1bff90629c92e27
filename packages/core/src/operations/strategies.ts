import type { ChangeContext, EnvironmentRef, StrategyRef } from '../api/refs.js';
import type { StrategyOperations } from '../api/strategies.js';
import { detached, detachedPatch } from '../detached.js';
import type { FlagEvent, FlagState } from '../domain/flag.js';
import {
  addStrategy,
  findStrategy,
  patchStrategy,
  removeStrategy,
  replaceStrategy,
  toStrategy,
} from '../domain/strategies.js';
import { disable, enable } from '../domain/switching.js';
import type { Versioned } from '../engine/aggregate.js';
import type { Engine } from '../engine/engine.js';
import { requireText } from '../engine/reader.js';
import { assertAffordable } from './affordable.js';
import { changeFlag } from './change-flag.js';
import { requireEnvironment } from './find.js';

/** A flag's strategies per environment, and its switches. */
export function strategyOperations(engine: Engine): StrategyOperations {
  const { validate, newId } = engine;
  return {
    async addStrategy(ref, input, context) {
      const strategy = detached(toStrategy(newId(), validate.strategy(input)));
      await changeEnvironment(engine, { ref, context }, (flag) => addStrategy(flag, ref.environment, strategy));
      return strategy;
    },

    async updateStrategy(ref, input, context) {
      const replacement = { ...detached(toStrategy('', validate.strategy(input))), id: ref.strategy };
      const decide = (flag: FlagState) => replaceStrategy(flag, ref, replacement);
      return findStrategy((await changeEnvironment(engine, { ref, context }, decide)).state, ref);
    },

    async patchStrategy(ref, input, context) {
      const change = { patch: detachedPatch(validate.jsonPatch(input)), validate: validate.strategy };
      const decide = (flag: FlagState) => patchStrategy(flag, ref, change);
      return findStrategy((await changeEnvironment(engine, { ref, context }, decide)).state, ref);
    },

    async removeStrategy(ref, context) {
      await changeEnvironment(engine, { ref, context }, (flag) => removeStrategy(flag, ref));
    },

    async enable(ref, context) {
      await changeEnvironment(engine, { ref, context }, (flag) => enable(flag, ref.environment));
    },

    async disable(ref, context) {
      await changeEnvironment(engine, { ref, context }, (flag) => disable(flag, ref.environment));
    },
  };
}

/** Changes a flag in an environment that exists. */
function changeEnvironment(
  engine: Engine,
  { ref, context }: { readonly ref: EnvironmentRef | StrategyRef; readonly context: ChangeContext | undefined },
  decide: (flag: FlagState) => FlagEvent[],
): Promise<Versioned<FlagState>> {
  return changeFlag(engine, { ref, context }, (flag) => {
    requireEnvironment(engine, ref.environment);
    if ('strategy' in ref) requireText('strategy', ref.strategy);
    const events = decide(flag);
    assertAffordable(engine, { flag, events, environment: ref.environment });
    return events;
  });
}
