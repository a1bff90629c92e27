import type { Versioned } from '../changes/aggregate.js';
import type { Engine } from '../changes/engine.js';
import { assertText, type Read } from '../changes/reader.js';
import type { Awaitable, ChangeContext, EnvironmentRef, JsonPatch, StrategyRef } from '../common.types.js';
import type { ErrorDetail } from '../errors.js';
import { cloneJson, clonePatch } from '../replica/clone-json.js';
import { segmentDocuments } from '../segments/segment.js';
import { idOfSegment } from '../segments/segment.operations.js';
import { invalidInput } from '../validation/validator.js';
import { assertAffordable } from './affordable.js';
import { changeFlag } from './change-flag.js';
import { assertEnvironment } from './find.js';
import type { FlagEvent, FlagState } from './flag.js';
import * as strategyRules from './strategies.decide.js';
import type { Strategy, StrategyInput, StrategyReplacement } from './strategy.types.js';

export async function addStrategy(
  engine: Engine,
  ref: EnvironmentRef,
  input: StrategyInput,
  context?: ChangeContext,
): Promise<Strategy> {
  const { validate, newId } = engine;
  const strategy = cloneJson(strategyRules.toStrategy(newId(), validate.strategy(input)));
  await changeEnvironment(engine, { ref, context }, async (flag, read) => {
    const events = strategyRules.addStrategy(flag, ref.environment, strategy);
    await assertSegmentsExist(read, events);
    return events;
  });
  return strategy;
}

export async function updateStrategy(
  engine: Engine,
  ref: StrategyRef,
  input: StrategyReplacement,
  context?: ChangeContext,
): Promise<Strategy> {
  const { validate } = engine;
  const valid = validate.strategyReplacement(input);
  const { name } = valid;
  const replacement = cloneJson(strategyRules.toStrategy('', valid));
  const changed = await changeEnvironment(engine, { ref, context }, async (flag, read) => {
    const named = { ...replacement, name: name ?? strategyRules.findStrategy(flag, ref).name };
    // The rules for parameters depend on the name.
    if (name === undefined) validate.strategy({ name: named.name, parameters: named.parameters });
    const events = strategyRules.replaceStrategy(flag, ref, named);
    await assertSegmentsExist(read, events);
    return events;
  });
  return strategyRules.findStrategy(changed.state, ref);
}

export async function patchStrategy(
  engine: Engine,
  ref: StrategyRef,
  input: JsonPatch,
  context?: ChangeContext,
): Promise<Strategy> {
  const { validate } = engine;
  const change = { patch: clonePatch(validate.jsonPatch(input)), validate: validate.strategy };
  const changed = await changeEnvironment(engine, { ref, context }, async (flag, read) => {
    const events = strategyRules.patchStrategy(flag, ref, change);
    await assertSegmentsExist(read, events);
    return events;
  });
  return strategyRules.findStrategy(changed.state, ref);
}

export async function removeStrategy(engine: Engine, ref: StrategyRef, context?: ChangeContext): Promise<void> {
  await changeEnvironment(engine, { ref, context }, (flag) => strategyRules.removeStrategy(flag, ref));
}

export async function enable(engine: Engine, ref: EnvironmentRef, context?: ChangeContext): Promise<void> {
  await changeEnvironment(engine, { ref, context }, (flag) => strategyRules.enable(flag, ref.environment));
}

export async function disable(engine: Engine, ref: EnvironmentRef, context?: ChangeContext): Promise<void> {
  await changeEnvironment(engine, { ref, context }, (flag) => strategyRules.disable(flag, ref.environment));
}

/** Changes a flag in one environment. Refuses an unknown environment and strategies that are too expensive. */
function changeEnvironment(
  engine: Engine,
  { ref, context }: { readonly ref: EnvironmentRef | StrategyRef; readonly context: ChangeContext | undefined },
  decide: (flag: FlagState, read: Read) => Awaitable<FlagEvent[]>,
): Promise<Versioned<FlagState>> {
  return changeFlag(engine, { ref, context }, async (flag, read) => {
    assertEnvironment(engine, ref.environment);
    if ('strategy' in ref) assertText('strategy', ref.strategy);
    const events = await decide(flag, read);
    assertAffordable(engine, { flag, events, environment: ref.environment });
    return events;
  });
}

/**
 * Refuses missing segments that a strategy starts to use. The commit checks that the found segments still exist.
 * Segments already in use stay allowed, because release 0.1 accepted any id.
 */
async function assertSegmentsExist(read: Read, events: readonly FlagEvent[]): Promise<void> {
  for (const event of events) {
    if (event.type !== 'strategy-added' && event.type !== 'strategy-updated') continue;
    const { data, before } = event;
    const known = new Set(before?.segments);
    const segments = (data.segments ?? []).map((id, index) => ({ id, index })).filter(({ id }) => !known.has(id));
    const found = await Promise.all(segments.map(({ id }) => read(segmentDocuments, idOfSegment(id))));
    const missing = segments.filter((_, index) => !found[index]);
    if (missing.length > 0) throw invalidInput(missing.map(toIssue));
  }
}

function toIssue({ id, index }: { readonly id: number; readonly index: number }): ErrorDetail {
  return { message: `must be the id of a segment, and there is no segment ${id}`, path: `/segments/${index}` };
}
