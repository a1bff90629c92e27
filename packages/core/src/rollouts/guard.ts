import type { SharedEngine } from '../changesets/engine.js';
import { askHost } from '../kernel/due/host.js';
import { nextAtOf } from './rollout.decide.js';
import type { RolloutSummary } from './rollout.js';
import type { GuardAnswer, RolloutGuard } from './rollout.types.js';

/** Milliseconds between two questions about one rollout. */
const INTERVAL = 60_000;
/** Questions to the host at the same time. */
const ASKED_AT_ONCE = 50;

/** Asks the guard of this node: before each step, and every minute of a hold. */
export class RolloutGuards {
  /** When each rollout was asked about last, in milliseconds since 1970, by id. */
  private readonly askedAt = new Map<string, number>();
  /** Rollouts whose guard has failed, so that it is reported once. */
  private readonly failed = new Set<string>();

  constructor(
    private readonly guard: RolloutGuard,
    private readonly engineOf: () => Pick<SharedEngine, 'lifetime' | 'onError'>,
  ) {}

  /** Asks about all rollouts that it is time for. Resolves to the answers, by id. */
  async ask(rollouts: readonly RolloutSummary[], now: number): Promise<ReadonlyMap<string, GuardAnswer>> {
    const ids = new Set(rollouts.map(({ id }) => id));
    for (const id of this.askedAt.keys()) if (!ids.has(id)) this.forget(id);
    const due = rollouts.filter((rollout) => this.isTimeFor(rollout, now));
    const answers = new Map<string, GuardAnswer>();
    for (let first = 0; first < due.length; first += ASKED_AT_ONCE) {
      const asked = due.slice(first, first + ASKED_AT_ONCE).map(async (rollout) => {
        this.askedAt.set(rollout.id, now);
        answers.set(rollout.id, await this.askAbout(rollout));
      });
      await Promise.all(asked);
    }
    return answers;
  }

  private isTimeFor(rollout: RolloutSummary, now: number): boolean {
    if (rollout.state === 'paused') return false;
    const since = Date.parse(rollout.since);
    const latest = Math.max(this.askedAt.get(rollout.id) ?? since, since);
    const nextAt = nextAtOf(rollout);
    const isDue = nextAt !== undefined && nextAt <= now;
    const wasAskedWhenDue =
      nextAt !== undefined && (this.askedAt.get(rollout.id) ?? Number.NEGATIVE_INFINITY) >= nextAt;
    return latest + INTERVAL <= now || (isDue && !wasAskedWhenDue);
  }

  /** An error, and any other value, counts as `hold`. */
  private async askAbout({ id, ref, steps, step, since }: RolloutSummary): Promise<GuardAnswer> {
    const rollout = steps[step]?.rollout ?? 0;
    const asked = { name: 'rolloutGuard', later: `the rollout ${id} holds` };
    try {
      const engine = this.engineOf();
      const answer = await askHost(engine, (signal) => this.guard({ ref, rollout, step, since, signal }), asked);
      if (!isAnswer(answer))
        throw new TypeError(`rolloutGuard must return go, hold or rollback; the rollout ${id} holds.`);
      this.failed.delete(id);
      return answer;
    } catch (error) {
      if (!this.failed.has(id)) this.engineOf().onError(error);
      this.failed.add(id);
      return 'hold';
    }
  }

  private forget(id: string): void {
    this.askedAt.delete(id);
    this.failed.delete(id);
  }
}

function isAnswer(answer: unknown): answer is GuardAnswer {
  return answer === 'go' || answer === 'hold' || answer === 'rollback';
}
