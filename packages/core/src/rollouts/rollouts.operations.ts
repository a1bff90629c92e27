import { v7 as timeOrderedId } from 'uuid';
import type { ChangeContext, ListPage, PageQuery, StrategyRef } from '../base/common.types.js';
import { assertEnvironment } from '../base/environments.js';
import { LIMITS } from '../base/limits.js';
import { pageBounds, takePage } from '../base/pages.js';
import { assertText, invalidInput } from '../base/validator.js';
import type { ChangeEngine } from '../changesets/engine.js';
import { hashOf, readChangeSetId } from '../changesets/repetition.js';
import { cannotBeRepeated, toContext } from '../changesets/run-operation.js';
import { authorOf, type CommittedDocuments, type PreparedChange, type UnitOfWork } from '../engine/engine.js';
import { FlagsError } from '../errors.js';
import { percentageParameter, shareOf } from '../evaluation/strategies.js';
import { assertDueRuns } from '../features/change-requests/change-requests.operations.js';
import { changeFlag } from '../flags/change-flag.js';
import { assertNotArchived, environmentOf, type FlagState } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { findStrategy, replaceStrategy } from '../flags/strategies.decide.js';
import type { Strategy } from '../flags/strategy.types.js';
import type { DueSource } from '../kernel/due/source.js';
import type { DocumentReader } from '../storage/documents.js';
import { listSummaries, type StoredSummary } from '../storage/summaries.js';
import { FlagHasChanged } from './changed-flag.js';
import * as rules from './rollout.decide.js';
import type { RolloutState, RolloutSummary } from './rollout.js';
import { ENDED, OPEN, rolloutDocuments } from './rollout.kind.js';
import { readSteps, validateAdvance, validateRolloutQuery, validateStop } from './rollout.schema.js';
import type {
  AdvanceOptions,
  NewRollout,
  Rollout,
  RolloutContext,
  RolloutQuery,
  RolloutRef,
  StopOptions,
} from './rollout.types.js';
import { findRollout, originalOf, prepareMove, withParameter } from './rollout-moves.js';

const { kind: KIND } = rolloutDocuments;
/** A person's change that meets the step of another node is decided so often. */
const ATTEMPTS = 3;

export async function startRollout(
  engine: ChangeEngine,
  strategy: StrategyRef,
  input: NewRollout,
  context: ChangeContext = {},
): Promise<Rollout> {
  return (await commitStart(engine, strategy, input, context)).rollout;
}

/** A rollout, and the documents after the commit that started it. */
interface StartedRollout {
  readonly rollout: Rollout;
  readonly documents: Pick<CommittedDocuments, 'read'>;
}

async function commitStart(
  engine: ChangeEngine,
  strategy: StrategyRef,
  input: NewRollout,
  context: ChangeContext,
): Promise<StartedRollout> {
  assertDueRuns(engine);
  const { actor, reason, bypassApproval } = context;
  const attributed = toContext({ actor, reason, bypassApproval }, undefined);
  const approval = bypassApproval === undefined ? null : 'bypass';
  const given = readRollout(engine, strategy, input, {
    id: context.id,
    reason: attributed.reason ?? null,
    approval,
  });
  const origin = `${KIND}/${given.id}`;
  const { documents = engine } = await engine.run(prepareStart(given, context.ifRevision), {
    ...attributed,
    origin,
  });
  const { state, revision } = await findRollout(documents.read, given.id);
  engine.rollouts.expect(state);
  return { rollout: toRollout(state, revision), documents };
}

/** Prepares the changes that start a rollout: the first step, and the rollout itself. */
function prepareStart(
  given: GivenRollout,
  ifRevision: ChangeContext['ifRevision'],
): readonly [PreparedChange, PreparedChange] {
  const { id, ref } = given;
  const subject = { kind: flagDocuments.kind, id: ref.flag };
  /** The strategy from before the start; undefined for a repeated id. */
  let original: Strategy | undefined;
  const step: PreparedChange = {
    subject,
    op: 'updateStrategy',
    ifRevision,
    async decide(unit, by) {
      original = undefined;
      if (await unit.read(rolloutDocuments, id)) return;
      const change = changeFlag(ref, {
        decide(flag) {
          original = usableStrategy(flag, ref);
          return replaceStrategy(flag, ref, withParameter(original, { percentage: given.steps[0]?.rollout ?? 0 }));
        },
        result: () => undefined,
      });
      await change.decide(unit, by);
      // Also without another percentage: of two rollouts of a strategy that start at once, one must conflict.
      await unit.touch(flagDocuments, ref.flag);
    },
    result: () => undefined,
  };
  const start: PreparedChange = {
    subject,
    op: 'startRollout',
    async decide(unit, by) {
      const author = authorOf(by);
      const existing = await unit.read(rolloutDocuments, id);
      if (existing || !original)
        return rules.assertRepeated(existing?.state ?? { ...given, hash: '', author }, { ...given, author });
      await assertRoom(unit, ref);
      const stored = (await unit.read(flagDocuments, ref.flag))?.revision ?? 0;
      const rollout = newRollout(given, { author, strategy: original, flagRevision: stored + 1 });
      // The event does not have all of it, so it cannot create the document.
      await unit.put(rolloutDocuments, id, rollout);
      await unit.apply(rolloutDocuments, id, rules.startedEvents(rollout));
    },
    result: () => undefined,
  };
  return [step, start];
}

type GivenRollout = Pick<
  RolloutState,
  'id' | 'ref' | 'steps' | 'guarded' | 'createdAt' | 'reason' | 'approval' | 'hash'
>;

interface RolloutContent extends Pick<RolloutState, 'reason' | 'approval'> {
  /** Default: a new one. */
  readonly id: string | undefined;
}

/** Validates what does not depend on stored state. The caller may change the input afterwards. */
function readRollout(
  engine: ChangeEngine,
  { project, flag, environment, strategy }: StrategyRef,
  input: NewRollout,
  { id: given, reason, approval }: RolloutContent,
): GivenRollout {
  assertText('flag', flag);
  assertText('strategy', strategy);
  assertEnvironment(engine, environment);
  const { steps, guarded } = readSteps(input);
  const ref = { project, flag, environment, strategy };
  const now = engine.now();
  const id = given === undefined ? timeOrderedId({ msecs: Math.max(0, now.getTime()) }) : readChangeSetId(given);
  return {
    id,
    ref,
    steps,
    guarded,
    createdAt: now.toISOString(),
    reason,
    approval,
    hash: hashOf([ref, steps, guarded, approval]),
  };
}

/** Throws `environment_disabled` for a strategy that has no effect: switching it on would end the rollout. */
function usableStrategy(flag: FlagState, ref: StrategyRef): Strategy {
  assertNotArchived(flag);
  const { environment } = ref;
  const strategy = findStrategy(flag, ref);
  if (percentageParameter(strategy.name) === undefined) {
    const message = `must name a strategy with a percentage; ${strategy.name} has none`;
    throw invalidInput([{ message, path: '/strategy' }]);
  }
  if (environmentOf(flag, environment).enabled && !strategy.disabled) return strategy;
  const why = strategy.disabled
    ? `The strategy is disabled in ${environment}`
    : `The flag ${flag.name} is off in ${environment}`;
  throw new FlagsError('environment_disabled', `${why}; switch it on first, because that would end the rollout.`);
}

/** The flag must be read before: a rollout that another process starts at the same moment changes it. */
async function assertRoom(unit: Pick<UnitOfWork, 'list'>, ref: StrategyRef): Promise<void> {
  let count = 1;
  for await (const { summary } of listRolloutSummaries(unit, OPEN)) {
    count += 1;
    const { id, ref: other } = summary;
    if (other.flag !== ref.flag || other.environment !== ref.environment || other.strategy !== ref.strategy) continue;
    const message = `The rollout ${id} of this strategy is active; stop it, or wait for its end.`;
    throw new FlagsError('rollout_exists', message);
  }
  if (count <= LIMITS.activeRollouts) return;
  const message = `would be one too many: at most ${LIMITS.activeRollouts} rollouts may be active. Stop some`;
  throw invalidInput([{ message, path: '' }]);
}

function newRollout(
  given: GivenRollout,
  { author, strategy, flagRevision }: Pick<RolloutState, 'author' | 'flagRevision'> & { readonly strategy: Strategy },
): RolloutState {
  const name = percentageParameter(strategy.name) ?? '';
  const [first = { rollout: 0, hold: 0 }] = given.steps;
  const progress = { state: rules.stateIn(first), step: 0, since: given.createdAt, flagRevision };
  const original = originalOf(strategy, name);
  const ends = { endedAt: null, ended: null, failure: null };
  return { v: 1, ...given, ...progress, startedFrom: shareOf(original?.value), original, author, ...ends };
}

export async function getRollout({ read }: ChangeEngine, { rollout }: RolloutRef): Promise<Rollout> {
  const { state, revision } = await findRollout(read, rollout);
  return toRollout(state, revision);
}

/** Members by name: they are part of the public API. */
function toRollout(summary: RolloutSummary, revision: number): Rollout {
  const { id, state, ref, steps, step, startedFrom, since, guarded } = summary;
  const { author, approval, createdAt, reason, endedAt, ended, failure } = summary;
  const next = rules.nextAtOf(summary);
  const nextAt = next === undefined ? null : new Date(next).toISOString();
  const progress = { step, startedFrom, since, nextAt, guarded };
  return { id, state, ref, steps, ...progress, approval, author, createdAt, reason, endedAt, ended, failure, revision };
}

/** Decides whether the caller may read a rollout. */
export type CanReadRollout = (rollout: Rollout) => Promise<boolean>;

export async function listRollouts(
  engine: ChangeEngine,
  query: RolloutQuery = {},
  { page, canRead }: { readonly page?: PageQuery | undefined; readonly canRead?: CanReadRollout } = {},
): Promise<ListPage<Rollout>> {
  const selected = validateRolloutQuery(query);
  const bounds = pageBounds(page);
  return takePage(select(engine, selected, { after: bounds.after, canRead }), bounds, {
    cursorOf: ({ id }) => id,
    sizeOf: (rollout) => JSON.stringify(rollout).length,
  });
}

async function* select(
  engine: ChangeEngine,
  { state, project, flag }: RolloutQuery,
  { after, canRead }: { readonly after: string | undefined; readonly canRead: CanReadRollout | undefined },
): AsyncGenerator<Rollout> {
  const parent = state === undefined ? undefined : ['running', 'waiting', 'paused'].includes(state) ? OPEN : ENDED;
  const flags = engine.memory.statesOf(flagDocuments);
  for await (const { summary, revision } of listRolloutSummaries(engine, parent, after)) {
    const { ref } = summary;
    if (state !== undefined && summary.state !== state) continue;
    if (flag !== undefined && ref.flag !== flag) continue;
    if (project !== undefined && ref.project !== project && flags.get(ref.flag)?.project !== project) continue;
    const rollout = toRollout(summary, revision);
    if (!canRead || (await canRead(rollout))) yield rollout;
  }
}

/** Reads the summaries of rollouts by id. */
export function listRolloutSummaries(
  reader: Pick<DocumentReader, 'list'>,
  parent?: string,
  after?: string,
): AsyncGenerator<StoredSummary<RolloutSummary>> {
  return listSummaries(reader, { kind: KIND, parent, after });
}

export function pauseRollout(engine: ChangeEngine, ref: RolloutRef, context?: RolloutContext): Promise<Rollout> {
  return moveRollout(engine, ref, { op: 'pauseRollout', decide: (rollout) => rules.pause(rollout), context });
}

export function resumeRollout(engine: ChangeEngine, ref: RolloutRef, context?: RolloutContext): Promise<Rollout> {
  return moveRollout(engine, ref, { op: 'resumeRollout', decide: rules.resume, context });
}

export async function advanceRollout(
  engine: ChangeEngine,
  ref: RolloutRef,
  options: AdvanceOptions = {},
  context?: RolloutContext,
): Promise<Rollout> {
  const { step } = validateAdvance(options);
  return moveRollout(engine, ref, {
    op: 'advanceRollout',
    decide: (rollout) => rules.advance(rollout, step, engine.now()),
    context,
  });
}

export async function stopRollout(
  engine: ChangeEngine,
  ref: RolloutRef,
  options: StopOptions = {},
  context?: RolloutContext,
): Promise<Rollout> {
  const { rollback = false } = validateStop(options);
  return moveRollout(engine, ref, { op: 'stopRollout', decide: (rollout) => rules.stop(rollout, rollback), context });
}

interface MoveByPerson {
  readonly op: string;
  readonly decide: (rollout: RolloutState) => rules.Move | undefined;
  readonly context: RolloutContext | undefined;
}

async function moveRollout(
  engine: ChangeEngine,
  { rollout: id }: RolloutRef,
  { op, decide, context = {} }: MoveByPerson,
): Promise<Rollout> {
  if ('id' in context && context.id !== undefined) throw cannotBeRepeated(op);
  const { state } = await findRollout(engine.read, id);
  const { changes, context: moving } = prepareMove(engine, state, { op, decide });
  const prepared = changes.map((change) => ({ ...change, ifRevision: context.ifRevision }));
  const { documents = engine } = await retryOnStep(engine, state, () =>
    engine.run(prepared, { ...moving, ...toContext(context, undefined) }),
  );
  const moved = await findRollout(documents.read, id);
  engine.rollouts.expect(moved.state);
  return toRollout(moved.state, moved.revision);
}

/**
 * Ends a rollout whose flag has changed. If it goes on, its two documents were read around the step of another node, and the
 * change is decided again.
 */
async function retryOnStep<T>(engine: ChangeEngine, { id }: RolloutState, move: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await move();
    } catch (error) {
      if (!(error instanceof FlagHasChanged)) throw error;
      const hasEnded = await engine.rollouts.endIfChanged(id);
      if (hasEnded || attempt === ATTEMPTS) throw error;
    }
  }
}

interface Runner extends Pick<DueSource<string>, 'nextAt'> {
  run(): Promise<readonly string[]>;
  unguarded(): number;
}

export function dueRollouts(runner: Runner, engineOf: () => Pick<ChangeEngine, 'read'>): DueSource<Rollout> {
  return {
    name: 'rollouts',
    nextAt: () => runner.nextAt(),
    async run() {
      const items: Rollout[] = [];
      for (const id of await runner.run()) {
        const found = await engineOf().read(rolloutDocuments, id);
        if (found) items.push(toRollout(found.state, found.revision));
      }
      return items;
    },
    counts: () => ({ pending: 0, overdue: 0, unguarded: runner.unguarded() }),
  };
}
