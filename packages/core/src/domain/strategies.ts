import type { JsonPatch } from '../api/json-patch.js';
import type { Strategy, StrategyInput } from '../api/strategies.js';
import { FlagsError } from '../errors.js';
import { LIMITS } from '../validation/limits.js';
import { environmentOf, type FlagEvent, type FlagState } from './flag.js';
import { refuseArchived } from './flag-lifecycle.js';
import { isSameJson } from './json-equality.js';
import { applyPatch } from './json-patch.js';

const CHANGEABLE = [
  'name',
  'parameters',
  'constraints',
  'title',
  'disabled',
  'sortOrder',
  'segments',
  'variants',
] as const satisfies readonly (keyof StrategyInput)[];

/** Where a strategy is: in one environment of a flag. */
export interface StrategyPlace {
  readonly environment: string;
  readonly strategy: string;
}

/** A strategy with its id, made of what the input has of it: unknown members left out, absent ones filled in. */
export function toStrategy(id: string, input: StrategyInput): Strategy {
  const { name, parameters = {}, constraints = [], title, disabled, sortOrder, segments, variants } = input;
  return {
    id,
    name,
    ...(title !== undefined && { title }),
    ...(disabled !== undefined && { disabled }),
    ...(sortOrder !== undefined && { sortOrder }),
    constraints,
    parameters,
    ...(segments !== undefined && { segments }),
    ...(variants !== undefined && { variants }),
  };
}

export function addStrategy(flag: FlagState, environment: string, strategy: Strategy): FlagEvent[] {
  refuseArchived(flag);
  refuseAnother(flag, environment);
  return [{ type: 'strategy-added', environment, data: strategy, before: null }];
}

function refuseAnother(flag: FlagState, environment: string): void {
  const most = LIMITS.strategiesPerEnvironment;
  if (environmentOf(flag, environment).strategies.length < most) return;
  const message = `The flag ${flag.name} has ${most} strategies in ${environment}, and cannot have more; remove one first.`;
  throw new FlagsError('invalid_input', message);
}

export function replaceStrategy(flag: FlagState, place: StrategyPlace, input: StrategyInput): FlagEvent[] {
  refuseArchived(flag);
  const before = findStrategy(flag, place);
  const data = toStrategy(before.id, input);
  if (isSameJson(data, before)) return [];
  return [{ type: 'strategy-updated', environment: place.environment, data, before }];
}

/** What patching a strategy needs from outside the decision. */
export interface StrategyPatch {
  readonly patch: JsonPatch;
  readonly validate: (input: unknown) => StrategyInput;
}

export function patchStrategy(flag: FlagState, place: StrategyPlace, { patch, validate }: StrategyPatch): FlagEvent[] {
  refuseArchived(flag);
  const current = findStrategy(flag, place);
  const result = applyPatch(current, patch, { changeable: CHANGEABLE, kept: ['id'] });
  return replaceStrategy(flag, place, validate(result));
}

/** With its last strategy an environment is switched off: enabled implies a strategy. */
export function removeStrategy(flag: FlagState, place: StrategyPlace): FlagEvent[] {
  refuseArchived(flag);
  const { environment } = place;
  const before = findStrategy(flag, place);
  const { enabled, strategies } = environmentOf(flag, environment);
  const removed: FlagEvent = { type: 'strategy-removed', environment, data: null, before };
  if (!enabled || strategies.length > 1) return [removed];
  return [removed, { type: 'environment-disabled', environment, data: { enabled: false }, before: { enabled: true } }];
}

/** The strategy, sought only where the reference says: those of other environments are not found. */
export function findStrategy(flag: FlagState, { environment, strategy }: StrategyPlace): Strategy {
  const found = environmentOf(flag, environment).strategies.find(({ id }) => id === strategy);
  if (found) return found;
  const message = `The flag ${flag.name} has no strategy ${strategy} in ${environment}; read the flag for its strategies.`;
  throw new FlagsError('strategy_not_found', message);
}
