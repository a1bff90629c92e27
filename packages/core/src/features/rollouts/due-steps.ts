import type { StrategyRef } from '../../base/common.types.js';
import { isFlagsError } from '../../base/errors.js';
import type { SetContext, SharedEngine } from '../../kernel/changes/change-engine.js';
import type { AuthorizeDue, PlannedSet } from '../../kernel/changes/change-set.types.js';
import { isStorageError, refusalOf } from '../../kernel/due/host.js';
import { OVERDUE } from '../../kernel/due/runner.js';
import type { DueCounts, DueSource } from '../../kernel/due/source.js';
import { actorOf, type PreparedChange, type UnitOfWork } from '../../kernel/engine.js';
import type { FlagState } from '../flags/flag.js';
import { type FlagEvent, flagDocuments } from '../flags/flag.kind.js';
import * as rules from '../flags/rollouts.decide.js';
import type { StrategyRollout } from '../flags/strategy-rollout.types.js';
import { askDue, assertAuthor } from '../tokens/author.js';
import { RolloutGuards } from './guard.js';
import { createPool } from './pool.js';
import { byTime, type KnownRollout, type RollingFlags, toRollout } from './rolling-flags.js';
import type { EndedRollout, Rollout, RolloutGuard } from './rollout.types.js';

/** The most questions to the guard, and the most commits, at the same time. A guard that hangs keeps one place. */
const AT_ONCE = 16;
/** How often the host is asked about one step, if its flag changes while the host answers. */
const ATTEMPTS = 3;

export interface DueStepsOptions {
  readonly guard?: RolloutGuard | undefined;
  readonly authorize?: AuthorizeDue | undefined;
  /**
   * The actor of events without a caller: the end of a rollout, a pause after a refusal, and a rollback by the guard.
   */
  readonly actor: string;
}

type ChangedRollout = Rollout | EndedRollout;
type Decide = (flag: FlagState, at: string) => readonly FlagEvent[];

/** A change of a rollout that no caller asked for: a step, a pause after a refusal, or a rollback. */
interface DueChange {
  readonly decide: Decide;
  readonly context?: Partial<SetContext>;
  /** Called in the commit, unless there is nothing to change. */
  readonly check?: ((unit: UnitOfWork) => Promise<void>) | undefined;
  readonly ifRevision?: number | undefined;
}

/**
 * Takes the steps of rollouts that are due, in the order of time. All nodes may try: a step is one commit, which expects the
 * revision of the flag, and is decided by the step that this node has seen in memory.
 */
export class DueSteps implements DueSource<ChangedRollout> {
  readonly name = 'rollouts';
  readonly isConcurrent = true;
  private readonly guards: RolloutGuards | undefined;
  private readonly askInTurn = createPool(AT_ONCE);
  private readonly commitInTurn = createPool(AT_ONCE);
  /** Rollouts that wait for an answer or a commit, by key: a guard may take ten seconds. */
  private readonly underWay = new Map<string, Promise<ChangedRollout | undefined>>();
  /**
   * The due times of steps that this process has not taken, by key: the guard held them, or they failed. The next poll
   * tries them again.
   */
  private left = new Map<string, number>();
  /** Rollouts whose error was reported, so that it is reported once. */
  private readonly reported = new Set<string>();

  constructor(
    private readonly engine: SharedEngine,
    private readonly rolling: RollingFlags,
    private readonly options: DueStepsOptions,
  ) {
    this.guards = options.guard && new RolloutGuards(options.guard, engine);
  }

  nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const known of this.rolling.all()) {
      if (known.nextAt < next && this.isPending(known) && this.left.get(known.key) !== known.nextAt)
        next = known.nextAt;
    }
    return next;
  }

  counts(now: number): DueCounts {
    let [pending, overdue, unguarded] = [0, 0, 0];
    for (const known of this.rolling.all()) {
      const { guarded, state } = known.rollout;
      if (state === 'paused') continue;
      if (guarded && !this.guards) unguarded += 1;
      if (state !== 'running') continue;
      pending += 1;
      // A step that the guard holds back is not overdue.
      if (this.isPending(known) && known.nextAt < now - OVERDUE && !(this.guards && this.left.has(known.key)))
        overdue += 1;
    }
    return { pending, overdue, unguarded };
  }

  async run(now: number): Promise<readonly ChangedRollout[]> {
    const found = [...this.rolling.all()];
    const keys = new Set(found.map(({ key }) => key));
    this.guards?.keep(keys);
    for (const key of this.left.keys()) if (!keys.has(key)) this.left.delete(key);
    let hasFailed = false;
    const start = (known: KnownRollout) =>
      this.serve(known, now, () => hasFailed).catch((error: unknown) => {
        this.report(known, error);
        if (isStorageError(error)) hasFailed = true;
        return undefined;
      });
    const candidates = found.filter((known) => this.underWay.has(known.key) || this.isCandidate(known, now));
    const changed = await Promise.all(
      candidates.sort(byTime).map((known) => this.underWay.get(known.key) ?? this.track(known, start)),
    );
    return changed.flatMap((one) => one ?? []);
  }

  private track(
    known: KnownRollout,
    start: (known: KnownRollout) => Promise<ChangedRollout | undefined>,
  ): Promise<ChangedRollout | undefined> {
    const { key } = known;
    const work = start(known).finally(() => this.underWay.delete(key));
    this.underWay.set(key, work);
    return work;
  }

  /** Whether this process takes the next step at its time. */
  private isPending({ rollout: { state, guarded } }: KnownRollout): boolean {
    return state === 'running' && (this.guards !== undefined || !guarded);
  }

  private isCandidate(known: KnownRollout, now: number): boolean {
    return this.guards ? this.guards.isTimeFor(known, now) : this.isPending(known) && known.nextAt <= now;
  }

  /** Asks the guard, and takes the step or rolls back. Resolves to the rollout if it has changed. */
  private async serve(known: KnownRollout, now: number, hasFailed: () => boolean): Promise<ChangedRollout | undefined> {
    const { closing } = this.engine.lifetime;
    const isOver = () => hasFailed() || closing.aborted;
    const { guards } = this;
    const answer = guards ? await this.askInTurn(() => (isOver() ? 'hold' : guards.ask(known, now))) : 'go';
    const isDue = known.rollout.state === 'running' && known.nextAt <= now;
    if (isDue) this.left.set(known.key, known.nextAt);
    if (isOver() || answer === 'hold' || (answer === 'go' && !isDue)) return undefined;
    try {
      const changed = await (answer === 'rollback' ? this.rollBack(known) : this.takeStep(known, isOver));
      this.reported.delete(known.key);
      return changed;
    } catch (error) {
      guards?.forget(known.key);
      throw error;
    }
  }

  /** Takes a step, or pauses the rollout if the step is refused. */
  private async takeStep({ key, rollout }: KnownRollout, isOver: () => boolean): Promise<ChangedRollout | undefined> {
    const { ref, author, steps, step } = rollout;
    const decide: Decide = (flag, at) => rules.takeDueStep(flag, ref, { seen: rollout, at });
    // The end changes nothing for clients, so neither the host nor the token of the author is checked.
    if (step === steps.length - 1) return this.commit(ref, { decide });
    const context = actorOf(author);
    const change = { decide, context, check: this.checkOf(author) };
    try {
      for (let attempt = 1; ; attempt++) {
        const ifRevision = await this.askAuthorized(ref, change, author);
        if (isOver()) return undefined;
        try {
          return await this.commit(ref, { ...change, ifRevision });
        } catch (error) {
          if (!isFlagsError(error) || error.code !== 'revision_mismatch') throw error;
          // The flag has changed since the host was asked. After the last attempt, the next poll asks again.
          if (attempt < ATTEMPTS) continue;
          this.guards?.forget(key);
          return undefined;
        }
      }
    } catch (error) {
      const failure = refusalOf(error);
      if (!failure) throw error;
      // After a resume, the guard is asked at once.
      this.guards?.forget(key);
      return this.commit(ref, { decide: (flag) => rules.pauseAfterRefusal(flag, ref, { seen: rollout, failure }) });
    }
  }

  private checkOf(author: StrategyRollout['author']): DueChange['check'] {
    return (unit) => assertAuthor(unit, { author, what: 'rollout' }, this.engine.now());
  }

  /**
   * Asks the host before the commit: otherwise other changes would wait for its answer. Resolves to the revision of the
   * flag that the host was asked about; undefined without `due.authorize`.
   */
  private async askAuthorized(
    ref: StrategyRef,
    { context, ...change }: DueChange,
    author: StrategyRollout['author'],
  ): Promise<number | undefined> {
    const { authorize } = this.options;
    if (!authorize) return undefined;
    const { engine } = this;
    const set = {
      ...this.contextWith(context),
      authorize: (planned: PlannedSet) => askDue(engine, { authorize, author, what: 'rollout' }, planned),
    };
    const prepared = this.prepare(ref, change);
    const { unit } = await this.askInTurn(() => engine.writer.plan([prepared], set));
    return (await unit.stored(prepared.subject))?.revision;
  }

  /** Checks neither the author's token nor `due.authorize`: a rollback must not depend on the author. */
  private rollBack({ rollout }: KnownRollout): Promise<ChangedRollout | undefined> {
    const { ref } = rollout;
    const reason = `The guard rolled back the rollout of the strategy ${ref.strategy} of ${ref.flag} in ${ref.environment}.`;
    return this.commit(ref, { decide: (flag) => rules.rollBackByGuard(flag, ref, rollout), context: { reason } });
  }

  private commit(ref: StrategyRef, { context, ...change }: DueChange): Promise<ChangedRollout | undefined> {
    return this.commitInTurn(async () => {
      const { writer } = this.engine;
      const { id, documents } = await writer.run([this.prepare(ref, change)], this.contextWith(context));
      const flag = id === null ? undefined : (await documents?.read(flagDocuments, ref.flag))?.state;
      return flag && toRollout(flag, ref);
    });
  }

  private contextWith(context: Partial<SetContext> | undefined): SetContext {
    return { actor: this.options.actor, origin: 'rollout', ...context };
  }

  private prepare({ flag: name }: StrategyRef, { decide, check, ifRevision }: DueChange): PreparedChange {
    return {
      subject: { kind: flagDocuments.kind, id: name },
      ifRevision,
      async decide(unit, { at }) {
        const flag = (await unit.read(flagDocuments, name))?.state;
        const events = flag ? decide(flag, at) : [];
        if (events.length > 0) await check?.(unit);
        await unit.apply(flagDocuments, name, events);
      },
      result: () => undefined,
    };
  }

  private report({ key }: KnownRollout, error: unknown): void {
    if (!this.reported.has(key)) this.engine.onError(error);
    this.reported.add(key);
  }
}
