import { compareCodePoints } from '../base/collections.js';
import { LIMITS } from '../base/limits.js';
import type { PlannedSet } from '../changesets/change-set.types.js';
import type { SetApproval, SetContext, SharedEngine } from '../changesets/engine.js';
import type { ChangeSetUnit } from '../changesets/unit-of-work.js';
import { askDue, assertAuthor, DAY, isStorageError, pruneEnded, refusalOf } from './due.js';
import { endSchedule } from './schedule.decide.js';
import type {
  DueItems,
  DueRollouts,
  RunSchedules,
  ScheduleClock,
  ScheduleCounts,
  ScheduleEnd,
  ScheduleState,
} from './schedule.js';
import { ENDED, OPEN, scheduleDocuments } from './schedule.kind.js';
import type { AuthorizeDue } from './schedule.types.js';
import { listScheduleSummaries, prepareScheduled } from './schedules.operations.js';
import { assertUnchanged } from './scope.js';

/** Milliseconds between two looks at the schedules. */
const POLL = 5_000;
/** A schedule that is due for longer is overdue: two polls have not carried it out. */
const OVERDUE = 2 * POLL;

/** Another process has ended the schedule: there is nothing to do. */
class HasEnded extends Error {}
/** `notAfter` has passed. */
class HasExpired extends Error {}

interface RunnerOptions {
  readonly mode: RunSchedules;
  readonly authorizeDue: AuthorizeDue | undefined;
  /** The actor of what nobody asked for: the failure and the expiry of a schedule. */
  readonly actor: string;
  /** The rollouts, which have the same timer. */
  readonly rollouts: DueRollouts;
}

/** A pending schedule, as the last look has found it. */
interface Known {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Carries schedules out, and lets rollouts take their steps. It reads the pending schedules at every poll, and has one
 * timer: for the next poll, or for a schedule or a step that is due before it. All nodes may try: the set and the end of the
 * schedule are one commit, which expects the revision of the schedule.
 */
export class ScheduleRunner implements ScheduleClock {
  private pending: readonly Known[] = [];
  /** When the last round began, in milliseconds since 1970. The timer wakes for schedules that are due later. */
  private beganAt = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  /** When the timer fires, by the engine's clock. */
  private wakesAt = Number.NEGATIVE_INFINITY;
  private latest: Promise<unknown> = Promise.resolve();
  private isClosed = false;
  /** The rounds that failed at the last poll, so that a failure is reported once. */
  private readonly failing = new Set<string>();
  private isMovingRollouts = false;
  private prunesAt = Number.NEGATIVE_INFINITY;
  /** Schedules whose error was reported, so that it is reported once. */
  private readonly reported = new Set<string>();

  constructor(
    /** Called after the construction: the engine contains its runner. */
    private readonly engineOf: () => SharedEngine,
    private readonly options: RunnerOptions,
  ) {}

  private get engine(): SharedEngine {
    return this.engineOf();
  }

  get mode(): RunSchedules {
    return this.options.mode;
  }

  /** Starts the timer, if this node carries schedules out. */
  start(): void {
    if (this.mode === true) this.wakeAfter(0);
  }

  expect(id: string, at: number): void {
    if (this.mode !== true) return;
    this.pending = [...this.pending.filter((one) => one.id !== id), { id, at }];
    this.wakeBy(at);
  }

  /** Moves the timer to an earlier time, in milliseconds since 1970. */
  wakeBy(at: number): void {
    if (at < this.wakesAt && this.timer) this.wakeAfter(Math.max(0, at - this.now()));
  }

  counts(): ScheduleCounts | undefined {
    if (this.mode !== true) return undefined;
    const latest = this.now() - OVERDUE;
    const overdue = this.pending.filter(({ at }) => at < latest).length;
    return { pending: this.pending.length, overdue, unguarded: this.options.rollouts.unguarded() };
  }

  async runDue(): Promise<DueItems> {
    const schedules = await this.runSchedules();
    return { schedules, rollouts: await this.options.rollouts.run() };
  }

  /** One round after the other: two would decide the same schedules. */
  private runSchedules(): Promise<readonly string[]> {
    const round = this.latest.then(() => this.round());
    this.latest = round.catch(() => undefined);
    return round;
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  private now(): number {
    return this.engine.now().getTime();
  }

  private wakeAfter(delay: number): void {
    clearTimeout(this.timer);
    if (this.isClosed) return;
    this.wakesAt = this.now() + delay;
    this.timer = setTimeout(() => void this.wake(), delay).unref();
  }

  private async wake(): Promise<void> {
    this.timer = undefined;
    // Rejects after `close`, which waits for a round.
    await this.engine.lifetime.track(() => this.poll('schedules', () => this.runSchedules())).catch(() => this.close());
    void this.moveRollouts();
    const now = this.now();
    // The round took time, and its timer may have fired a millisecond early: some schedules became due after its beginning.
    const due = this.pending.reduce(
      (soonest, { at }) => (at > this.beganAt ? Math.min(soonest, at) : soonest),
      now + POLL,
    );
    this.wakeAfter(Math.max(1, due - now));
  }

  /** The timer does not wait for rollouts: a guard may take ten seconds, and schedules may be due meanwhile. */
  private async moveRollouts(): Promise<void> {
    if (this.isMovingRollouts) return;
    this.isMovingRollouts = true;
    const { rollouts } = this.options;
    await this.engine.lifetime.track(() => this.poll('rollouts', () => rollouts.run())).catch(() => this.close());
    this.isMovingRollouts = false;
    this.wakeBy(rollouts.nextAt());
  }

  private async poll(name: string, round: () => Promise<unknown>): Promise<void> {
    try {
      await round();
      this.failing.delete(name);
    } catch (error) {
      if (!this.failing.has(name)) this.engine.onError(error);
      this.failing.add(name);
    }
  }

  /** Carries out what is due, in the order of time, then of id. After a failure of the storage the rest waits. */
  private async round(): Promise<readonly string[]> {
    const now = this.now();
    this.beganAt = now;
    const before = new Set(this.pending);
    const listed = await this.listPending();
    // The list may lack schedules that this node has made meanwhile.
    const made = this.pending.filter((one) => !before.has(one));
    const ids = new Set(made.map(({ id }) => id));
    this.pending = [...listed.filter(({ id }) => !ids.has(id)), ...made];
    const due = this.pending
      .filter(({ at }) => at <= now)
      .sort((one, other) => one.at - other.at || compareCodePoints(one.id, other.id));
    const ended: string[] = [];
    for (const { id } of due) {
      if (this.engine.lifetime.closing.aborted) return ended;
      const outcome = await this.settle(id);
      if (outcome === 'stop') return ended;
      if (outcome === 'pending') continue;
      this.pending = this.pending.filter((one) => one.id !== id);
      this.reported.delete(id);
      if (outcome === 'ended') ended.push(id);
    }
    await this.engine.proposals.run();
    await this.prune(now).catch(this.engine.onError);
    return ended;
  }

  private async listPending(): Promise<readonly Known[]> {
    const pending: Known[] = [];
    for await (const { summary } of listScheduleSummaries(this.engine, OPEN)) {
      pending.push({ id: summary.id, at: Date.parse(summary.at) });
    }
    return pending;
  }

  /** `gone`: another process has ended it. `stop`: the storage failed. */
  private async settle(id: string): Promise<'ended' | 'gone' | 'pending' | 'stop'> {
    try {
      const found = await this.engine.read(scheduleDocuments, id);
      if (found?.state.state !== 'pending') return 'gone';
      await this.carryOut(found.state);
      return 'ended';
    } catch (error) {
      if (error instanceof HasEnded) return 'gone';
      if (!this.reported.has(id)) this.engine.onError(error);
      this.reported.add(id);
      return isStorageError(error) ? 'stop' : 'pending';
    }
  }

  /** Applies the changes, or writes why they are not. Rejects if the schedule stays pending. */
  private async carryOut(schedule: ScheduleState): Promise<void> {
    try {
      this.assertInTime(schedule);
      await this.apply(schedule);
    } catch (error) {
      const endedAt = new Date(this.now()).toISOString();
      if (error instanceof HasExpired) return this.end(schedule, { state: 'expired', endedAt });
      const failure = refusalOf(error);
      if (!failure) throw error;
      return this.end(schedule, { state: 'failed', endedAt, failure });
    }
  }

  private async apply(schedule: ScheduleState): Promise<void> {
    const { id, author, reason, proposal, bypass } = schedule;
    const changes = await prepareScheduled(this.engine, schedule);
    let approval: SetApproval | undefined;
    await this.engine.writer.run(changes, {
      actor: author.name,
      ...(author.token && { actorToken: author.token }),
      reason: reason ?? undefined,
      origin: originOf(id),
      // The bypass was recorded when the schedule was made.
      approval: async (needed) => bypass !== undefined || ((await approval?.(needed)) ?? false),
      authorize: (planned) => this.authorize(schedule, planned),
      conclude: async (unit, { id: changeSet, at }) => {
        await assertAuthor(unit, { author, what: 'schedule' }, this.engine.now());
        if (proposal) approval = await this.engine.proposals.approvalOf(unit, proposal);
        if (schedule.contents) await assertUnchanged(unit, schedule.contents);
        const lateBy = Math.max(0, Date.parse(at) - Date.parse(schedule.at));
        const hasEffect = unit.events.length > 0;
        const end: ScheduleEnd = { state: 'applied', endedAt: at, lateBy, changeSet: hasEffect ? changeSet : null };
        await endIn(this.engine, unit, { id, end });
      },
    });
  }

  private async end({ id }: ScheduleState, end: ScheduleEnd): Promise<void> {
    const context: SetContext = {
      actor: this.options.actor,
      origin: originOf(id),
      conclude: (unit) => endIn(this.engine, unit, { id, end }),
    };
    await this.engine.writer.run([], context);
  }

  private assertInTime({ notAfter }: ScheduleState): void {
    if (this.now() > Date.parse(notAfter)) throw new HasExpired();
  }

  private async authorize(schedule: ScheduleState, planned: PlannedSet): Promise<void> {
    const { authorizeDue } = this.options;
    await askDue(this.engine, { authorizeDue, author: schedule.author, what: 'schedule' }, planned);
    this.assertInTime(schedule);
  }

  /** Deletes schedules that ended long ago, once a day. Their events remain. */
  private async prune(now: number): Promise<void> {
    if (now < this.prunesAt) return;
    this.prunesAt = now + DAY;
    await pruneEnded(this.engine, {
      documents: scheduleDocuments,
      ended: listScheduleSummaries(this.engine, ENDED),
      before: now - LIMITS.scheduleRetention,
    });
  }
}

function originOf(id: string): string {
  return `${scheduleDocuments.kind}/${id}`;
}

/** Ends a schedule in the commit of a set. Throws {@link HasEnded} if it is not pending. */
async function endIn(
  { proposals }: Pick<SharedEngine, 'proposals'>,
  unit: ChangeSetUnit,
  { id, end }: { readonly id: string; readonly end: ScheduleEnd },
): Promise<void> {
  const found = await unit.read(scheduleDocuments, id);
  if (found?.state.state !== 'pending') throw new HasEnded();
  await unit.apply(scheduleDocuments, id, endSchedule(found.state, end));
  if (found.state.proposal) await proposals.follow(unit, found.state.proposal, end);
}
