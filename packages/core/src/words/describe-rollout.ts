import { isObject } from '../base/json.js';
import { shareOf } from '../evaluation/strategies.js';

/*
 * Words for rollouts. The consumers, the admin page and the command line share them.
 */

interface RolloutWords {
  readonly steps: readonly { readonly percentage: number; readonly hold?: number | null | undefined }[];
  readonly step: number;
  readonly guarded: boolean;
  readonly startedFrom: { readonly value?: unknown } | null;
  readonly failure: { readonly message: string } | null;
}

/** Says what a rollout does: "5 % for 12h, 25 % until advanced, 100 %, guarded". An approval is for all of it. */
export function describeSteps({ steps, guarded }: Pick<RolloutWords, 'steps' | 'guarded'>): string {
  const described = steps.map(({ percentage, hold = 0 }) => `${percentage} %${describeHold(hold)}`);
  return [...described, ...(guarded ? ['guarded'] : [])].join(', ');
}

/** Units of a hold in milliseconds, the longest first. */
const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;

function describeHold(hold: number | null): string {
  if (hold === null) return ' until advanced';
  const [unit, size] = Object.entries(UNITS).find(([, one]) => hold % one === 0) ?? ['ms', 1];
  return hold === 0 ? '' : ` for ${hold / size}${unit}`;
}

/** Whether a value is a rollout. */
export function isRollout(value: unknown): value is RolloutWords {
  return isObject(value) && Array.isArray(value.steps) && typeof value.step === 'number' && 'guarded' in value;
}

interface RolloutFact {
  readonly type: string;
  readonly data: unknown;
  readonly before: unknown;
}

/** Says in one sentence what an event of a rollout tells, with the percentage that it sets. Undefined for other events. */
export function describeRolloutEvent({ type, data, before }: RolloutFact): string | undefined {
  if (!type.startsWith('rollout-') || !isObject(data)) return undefined;
  const was = isObject(before) ? before.rollout : undefined;
  if (type === 'rollout-ended') return isRollout(was) ? describeEnd(data.reason, was) : undefined;
  const { rollout } = data;
  return isRollout(rollout) ? describeMove(type, rollout) : undefined;
}

function describeMove(type: string, rollout: RolloutWords): string | undefined {
  const { steps, step, failure } = rollout;
  switch (type) {
    case 'rollout-started':
      return `rolls out in steps: ${describeSteps(rollout)}`;
    case 'rollout-stepped':
      return `rollout at ${steps[step]?.percentage} %, step ${step + 1} of ${steps.length}`;
    case 'rollout-paused':
      return failure ? `rollout paused: ${failure.message}` : 'rollout paused';
    case 'rollout-resumed':
      return 'rollout resumed';
    default:
      return undefined;
  }
}

function describeEnd(reason: unknown, { steps, step, startedFrom }: RolloutWords): string {
  const back = `${shareOf(startedFrom?.value)} %`;
  switch (reason) {
    case 'done':
      return `rollout done at ${steps[step]?.percentage} %`;
    case 'stopped':
      return `rollout stopped at ${steps[step]?.percentage} %`;
    case 'rolled-back':
      return `rollout rolled back to ${back}`;
    case 'guard':
      return `rollout rolled back to ${back} by the guard`;
    default:
      return 'rollout ended by this change';
  }
}

interface PlannedChanges {
  readonly id: string;
  readonly events: readonly (Pick<RolloutFact, 'type' | 'data'> & { readonly environment: string | null })[];
}

/** Returns the strategies whose rollouts planned changes would end, beside moves of the rollouts themselves. */
export function rolloutsEndedBy(
  documents: readonly PlannedChanges[],
): readonly { readonly flag: string; readonly environment: string; readonly strategy: string }[] {
  return documents.flatMap(({ id: flag, events }) =>
    events.flatMap(({ type, environment, data }) => {
      if (type !== 'rollout-ended' || environment === null || !isObject(data) || data.reason !== 'changed') return [];
      return [{ flag, environment, strategy: String(data.strategy) }];
    }),
  );
}
