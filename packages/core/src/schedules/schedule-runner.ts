import { compareCodePoints } from '../base/collections.js';
import { LIMITS } from '../base/limits.js';
import type { PlannedSet } from '../changesets/change-set.types.js';
import type { SetApproval, SetContext, SharedEngine } from '../changesets/engine.js';
import type { ChangeSetUnit } from '../changesets/unit-of-work.js';
import { isStorageError, refusalOf } from '../kernel/due/host.js';
import { OVERDUE } from '../kernel/due/runner.js';
import type { DueCounts, DueSource } from '../kernel/due/source.js';
import { askDue, assertAuthor, DAY, pruneEnded } from './due.js';
import { endSchedule } from './schedule.decide.js';
import type { RunSchedules, ScheduleClock, ScheduleEnd, ScheduleState } from './schedule.js';
import { ENDED, OPEN, scheduleDocuments } from './schedule.kind.js';
import type { AuthorizeDue, ListedSchedule } from './schedule.types.js';
import { listScheduleSummaries, prepareScheduled, toListed } from './schedules.operations.js';
import { assertUnchanged } from './scope.js';

/** Another process has ended the schedule: there is nothing to do. */
class HasEnded extends Error {}
/** `notAfter` has passed. */
class HasExpired extends Error {}

interface RunnerOptions {
  readonly mode: RunSchedules;
  readonly authorizeDue: AuthorizeDue | undefined;
  /** The actor of what nobody asked for: the failure and the expiry of a schedule. */
  readonly actor: string;
}

/** A pending schedule, as the last look has found it. */
interface Known {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Carries schedules out: it reads the pending ones at every poll. All nodes may try: the set and the end of the schedule are
 * one commit, which expects the revision of the schedule.
 */
export class ScheduleRunner implements ScheduleClock, DueSource {
  readonly name = 'schedules';
  private pending: readonly Known[] = [];
  /** When the last round began, in milliseconds since 1970. */
  private beganAt = Number.NEGATIVE_INFINITY;
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

  expect(id: string, at: number): void {
    if (this.mode !== true) return;
    this.pending = [...this.pending.filter((one) => one.id !== id), { id, at }];
    this.engine.due.wakeBy(at);
  }

  nextAt(): number {
    const later = this.pending.filter(({ at }) => at > this.beganAt).map(({ at }) => at);
    return Math.min(Number.POSITIVE_INFINITY, ...later);
  }

  counts(now: number): DueCounts {
    const overdue = this.pending.filter(({ at }) => at < now - OVERDUE).length;
    return { pending: this.pending.length, overdue };
  }

  async run(): Promise<readonly ListedSchedule[]> {
    const items: ListedSchedule[] = [];
    for (const id of await this.round()) {
      const found = await this.engine.read(scheduleDocuments, id);
      if (found) items.push(toListed(found.state, found.revision));
    }
    return items;
  }

  private now(): number {
    return this.engine.now().getTime();
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
