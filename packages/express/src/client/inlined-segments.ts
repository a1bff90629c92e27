import type { ConstraintDefinition, FlagConfiguration, SegmentConfiguration, StrategyDefinition } from '@flags/core';
import { jsonArray, jsonList, jsonObject } from '../json-chunks.js';
import {
  clientConstraintToWire,
  clientFlagToWire,
  clientStrategyToWire,
  strategiesInUse,
} from '../wire/client-flag.js';

/** Stands for a segment that does not exist. No value is `IN` an empty list, whatever the age of the client. */
const NEVER: ConstraintDefinition = { contextName: 'userId', operator: 'IN', values: [] };

export type SegmentsById = ReadonlyMap<number, SegmentConfiguration>;

/**
 * The JSON of a flag for clients that do not know segments: each strategy has the constraints of its segments beside its own.
 * They are converted one by one, as many strategies may share a large segment.
 */
export function inlinedFlagChunks(flag: FlagConfiguration, segments: SegmentsById): AsyncGenerator<string, void> {
  const strategies = strategiesInUse(flag).map((strategy) => inlinedStrategyChunks(strategy, segments));
  return jsonObject({ ...clientFlagToWire(flag), strategies: jsonList(strategies) });
}

function inlinedStrategyChunks(strategy: StrategyDefinition, segments: SegmentsById): AsyncGenerator<string, void> {
  const { segments: _references, ...wire } = clientStrategyToWire(strategy);
  return jsonObject({ ...wire, constraints: jsonArray(allConstraints(strategy, segments), clientConstraintToWire) });
}

function* allConstraints(strategy: StrategyDefinition, segments: SegmentsById): Generator<ConstraintDefinition> {
  yield* strategy.constraints ?? [];
  for (const id of strategy.segments ?? []) yield* segments.get(id)?.constraints ?? [NEVER];
}
