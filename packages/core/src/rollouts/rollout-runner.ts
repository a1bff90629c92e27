import { compareCodePoints } from '../base/collections.js';
import { LIMITS } from '../base/limits.js';
import type { AuthorizeDue } from '../changesets/change-set.types.js';
import type { SetContext, SharedEngine } from '../changesets/engine.js';
import type { ConfigurationChange } from '../evaluation/evaluation.types.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { isStorageError, refusalOf } from '../kernel/due/host.js';
import { askDue, assertAuthor } from '../tokens/author.js';
import { FlagHasChanged, findEnd } from './changed-flag.js';
import { RolloutGuards } from './guard.js';
import * as rules from './rollout.decide.js';
import type { RolloutClock, RolloutState, RolloutSummary } from './rollout.js';
import { ENDED, OPEN, rolloutDocuments } from './rollout.kind.js';
import type { GuardAnswer, RolloutGuard } from './rollout.types.js';
import { type MovingChanges, prepareMove } from './rollout-moves.js';
import { listRolloutSummaries } from './rollouts.operations.js';

const DAY = 86_400_000;

interface RunnerOptions {
  readonly guard: RolloutGuard | undefined;
  readonly authorizeDue: AuthorizeDue | undefined;
  /** The actor of a pause after a refusal, of an end by another change, and of a rollback by the guard. */
  readonly actor: string;
  /** Whether this node follows its replica. Called after the construction. */
  readonly isRunning: () => boolean;
  /** Called when a hold is over earlier than the timer knows. */
  readonly wakeBy: (at: number) => void;
}

/**
 * Takes the steps of rollouts, when the runner of schedules says so. All nodes may try: a step is one commit, which expects
 * the revisions of the rollout and of its flag.
 */
export class RolloutRunner implements RolloutClock {
  /** The active rollouts, as the last look has found them. */
  private active: readonly RolloutSummary[] = [];
  /** The revision of the flag that each rollout was compared with, by id. */
  private readonly compared = new Map<string, number | undefined>();
  private readonly guards: RolloutGuards | undefined;
  /** The ids of the rollouts that the last round has moved. */
  private moved: ReadonlySet<string> = new Set();
  private latest: Promise<unknown> = Promise.resolve();
  /** When the last round began, in milliseconds since 1970. */
  private beganAt = Number.NEGATIVE_INFINITY;
  private prunesAt = Number.NEGATIVE_INFINITY;
  /** Rollouts whose error was reported, so that it is reported once. */
  private readonly reported = new Set<string>();

  constructor(
    /** Called after the construction: the engine contains its runner. */
    private readonly engineOf: () => SharedEngine,
    private readonly options: RunnerOptions,
  ) {
    this.guards = options.guard && new RolloutGuards(options.guard, engineOf);
  }

  private get engine(): SharedEngine {
    return this.engineOf();
  }

  /** Ends rollouts as soon as the replica brings a change of their flags. Returns a function that stops it. */
  follow(): () => void {
    return this.engine.replica.changes.add(({ flags }: ConfigurationChange) => {
      for (const { id, ref } of this.active) if (flags.includes(ref.flag)) void this.lookAt(id);
    });
  }

  expect(rollout: RolloutSummary): void {
    if (!this.options.isRunning()) return;
    this.active = this.active.filter(({ id }) => id !== rollout.id);
    if (rules.isActive(rollout)) this.active = [...this.active, rollout];
    const nextAt = rules.nextAtOf(rollout);
    if (nextAt !== undefined) this.options.wakeBy(nextAt);
  }

  unguarded(): number {
    if (this.guards) return 0;
    return this.active.filter(({ guarded, state }) => guarded && state !== 'paused').length;
  }

  /** After a step, the next one may be due at once. A step that could not be taken waits for the next poll. */
  nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const rollout of this.active) {
      if (rollout.state !== 'running') continue;
      const at = timeOf(rollout);
      if (at > this.beganAt || this.moved.has(rollout.id)) next = Math.min(next, at);
    }
    return next;
  }

  /** One round after the other: two would ask the guard about the same steps. */
  run(): Promise<readonly string[]> {
    this.moved = new Set();
    const round = this.latest.then(() => this.round());
    this.latest = round.catch(() => undefined);
    return round;
  }

  private now(): number {
    return this.engine.now().getTime();
  }

  /** Takes one step of each rollout that is due, in the order of time, then of id. */
  private async round(): Promise<readonly string[]> {
    const now = this.now();
    this.beganAt = now;
    this.active = await this.listActive();
    const moved = new Set<string>();
    const changed = this.active.filter((rollout) => this.mayHaveChanged(rollout));
    if (await this.visit(changed, moved, ({ id }) => this.endIfChanged(id))) await this.moveAll(moved, now);
    if (moved.size > 0) this.active = await this.listActive();
    this.moved = moved;
    await this.prune(now).catch(this.engine.onError);
    return [...moved];
  }

  private async moveAll(moved: Set<string>, now: number): Promise<void> {
    const rollouts = this.active.filter(({ id }) => !moved.has(id));
    const answers = await this.guards?.ask(rollouts, now);
    await this.visit(rollouts, moved, async (rollout) => {
      const answer = answers?.get(rollout.id);
      if (answer === 'rollback') return this.rollBack(rollout);
      return this.mayStep(rollout, answer) && isDue(rollout, now) ? this.takeStep(rollout, now) : false;
    });
  }

  private async listActive(): Promise<readonly RolloutSummary[]> {
    const active: RolloutSummary[] = [];
    for await (const { summary } of listRolloutSummaries(this.engine, OPEN)) active.push(summary);
    const ids = new Set(active.map(({ id }) => id));
    for (const id of this.compared.keys()) if (!ids.has(id)) this.compared.delete(id);
    return active.sort((one, other) => timeOf(one) - timeOf(other) || compareCodePoints(one.id, other.id));
  }

  /** Moves rollouts one by one. Resolves to false if the storage failed: the other rollouts wait for the next poll. */
  private async visit(
    rollouts: readonly RolloutSummary[],
    moved: Set<string>,
    move: (rollout: RolloutSummary) => Promise<boolean>,
  ): Promise<boolean> {
    for (const rollout of rollouts) {
      if (this.engine.lifetime.closing.aborted) return false;
      const { id } = rollout;
      try {
        if (await move(rollout)) moved.add(id);
        this.reported.delete(id);
      } catch (error) {
        if (!this.reported.has(id)) this.engine.onError(error);
        this.reported.add(id);
        if (isStorageError(error)) return false;
      }
    }
    return true;
  }

  /** A node with a guard asks it for every rollout. */
  private mayStep({ guarded }: RolloutSummary, answer: GuardAnswer | undefined): boolean {
    return this.guards ? answer === 'go' : !guarded;
  }

  /** Whether the replica knows another revision of the flag than the one that the last step has left. */
  private mayHaveChanged({ id, ref, flagRevision }: RolloutSummary): boolean {
    const known = this.revisionInMemory(ref.flag);
    return known !== flagRevision && !(this.compared.has(id) && this.compared.get(id) === known);
  }

  private revisionInMemory(flag: string): number | undefined {
    return this.engine.memory.get({ kind: flagDocuments.kind, id: flag })?.revision;
  }

  private async lookAt(id: string): Promise<void> {
    await this.engine.lifetime.track(() => this.endIfChanged(id)).catch(() => undefined);
  }

  async endIfChanged(id: string): Promise<boolean> {
    const found = await this.engine.read(rolloutDocuments, id);
    if (!found || !rules.isActive(found.state)) return false;
    const { ref } = found.state;
    const known = this.revisionInMemory(ref.flag);
    const end = await findEnd(this.engine.read, this.engine.storage, found.state);
    if (!end) this.compared.set(id, known);
    return end !== undefined && this.commitEnd(id);
  }

  /** The commit checks both revisions: another process may take a step at the same moment. */
  private async commitEnd(id: string): Promise<boolean> {
    const { writer, storage } = this.engine;
    const { actor } = this.options;
    const committed = await writer.run([], {
      actor,
      origin: `${rolloutDocuments.kind}/${id}`,
      async finishSet(unit, _, { at }) {
        const found = await unit.read(rolloutDocuments, id);
        if (!found || !rules.isActive(found.state)) return undefined;
        const end = await findEnd(unit.read, storage, found.state);
        if (!end) return undefined;
        const events = rules.end(found.state, end).events({ id: '', at, flagRevision: found.state.flagRevision });
        await unit.apply(rolloutDocuments, id, events);
        return undefined;
      },
    });
    return committed.id !== null;
  }

  /** Takes a step, or pauses the rollout if the step is refused. Resolves to whether the rollout has moved. */
  private async takeStep(rollout: RolloutSummary, now: number): Promise<boolean> {
    const { author, step, reason } = rollout;
    const { authorizeDue } = this.options;
    const moving = prepareMove(this.engine, rollout, { decide: (state) => rules.takeDue(state, step, now) });
    try {
      return await this.commit(moving, {
        actor: author.name,
        ...(author.token && { actorToken: author.token }),
        reason: reason ?? undefined,
        authorize: (planned) => {
          const documents = planned.documents.filter(({ kind }) => kind !== rolloutDocuments.kind);
          return askDue(this.engine, { authorizeDue, author, what: 'rollout' }, { ...planned, documents });
        },
        async finishSet(unit, by, set) {
          await assertAuthor(unit, { author, what: 'rollout' }, new Date(now));
          return moving.context.finishSet(unit, by, set);
        },
      });
    } catch (error) {
      return this.pauseRefused(rollout, error, (state) => state.state === 'running' && state.step === step);
    }
  }

  /** Ends a rollout whose flag has changed, and pauses one whose move was refused. Throws other errors. */
  private async pauseRefused(
    rollout: RolloutSummary,
    error: unknown,
    isSame: (state: RolloutState) => boolean,
  ): Promise<boolean> {
    if (error instanceof FlagHasChanged) return this.commitEnd(rollout.id);
    const failure = refusalOf(error);
    if (!failure) throw error;
    const decide = (state: RolloutState) => (isSame(state) ? rules.pause(state, failure) : undefined);
    return this.commit(prepareMove(this.engine, rollout, { decide }), { actor: this.options.actor });
  }

  /** Another change of the flag refuses it, or a missing approval. The author's token and `authorizeDue` do not matter. */
  private async rollBack(rollout: RolloutSummary): Promise<boolean> {
    const isSame = (state: RolloutState) => rules.isActive(state) && state.state !== 'paused';
    const decide = (state: RolloutState) => (isSame(state) ? rules.rollBack(state, 'guard') : undefined);
    const { actor } = this.options;
    const reason = `The guard rolled back the rollout ${rollout.id}.`;
    try {
      return await this.commit(prepareMove(this.engine, rollout, { decide }), { actor, reason });
    } catch (error) {
      return this.pauseRefused(rollout, error, isSame);
    }
  }

  private async commit({ changes, context }: MovingChanges, set: SetContext): Promise<boolean> {
    return (await this.engine.writer.run(changes, { ...context, ...set })).id !== null;
  }

  /** Deletes rollouts that ended long ago, once a day. */
  private async prune(now: number): Promise<void> {
    if (now < this.prunesAt) return;
    this.prunesAt = now + DAY;
    const ended = listRolloutSummaries(this.engine, ENDED);
    const before = new Date(now - LIMITS.rolloutRetention).toISOString();
    const isOld = ({ endedAt }: { readonly endedAt: string | null }) => endedAt !== null && endedAt < before;
    for await (const { summary } of ended) {
      if (isOld(summary)) await this.engine.writer.prune(rolloutDocuments, [summary.id], isOld);
    }
  }
}

function isDue(rollout: RolloutSummary, now: number): boolean {
  return rollout.state === 'running' && timeOf(rollout) <= now;
}

function timeOf(rollout: RolloutSummary): number {
  return rules.nextAtOf(rollout) ?? Number.POSITIVE_INFINITY;
}
