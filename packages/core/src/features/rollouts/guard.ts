import type { SharedEngine } from '../../kernel/changes/change-engine.js';
import { askHost } from '../../kernel/due/host.js';
import type { KnownRollout } from './rolling-flags.js';
import type { GuardAnswer, RolloutGuard } from './rollout.types.js';

/** Milliseconds between two questions about one rollout during a hold. */
const INTERVAL = 60_000;

/** Asks the guard of this process: before each step, and every minute of a hold. */
export class RolloutGuards {
  /** When each rollout was asked about last, in milliseconds since 1970, by key. */
  private readonly askedAt = new Map<string, number>();
  /** Rollouts whose guard has failed, so that it is reported once. */
  private readonly failed = new Set<string>();

  constructor(
    private readonly guard: RolloutGuard,
    private readonly engine: Pick<SharedEngine, 'lifetime' | 'onError'>,
  ) {}

  /** Forgets rollouts that have ended. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.askedAt.keys()) if (!keys.has(key)) this.forget(key);
  }

  /** Makes the next poll ask again, because the answer had no effect. */
  forget(key: string): void {
    this.askedAt.delete(key);
    this.failed.delete(key);
  }

  isTimeFor({ key, rollout: { state, since }, nextAt }: KnownRollout, now: number): boolean {
    if (state === 'paused') return false;
    const asked = this.askedAt.get(key) ?? Number.NEGATIVE_INFINITY;
    const wasAskedWhenDue = asked >= nextAt;
    return Math.max(asked, Date.parse(since)) + INTERVAL <= now || (nextAt <= now && !wasAskedWhenDue);
  }

  /** An error, and any other value, counts as `hold`. */
  async ask({ key, rollout: { ref, percentage, step, since } }: KnownRollout, now: number): Promise<GuardAnswer> {
    this.askedAt.set(key, now);
    const later = `the rollout of ${ref.strategy} of ${ref.flag} holds`;
    try {
      const question = { name: 'due.guard', later };
      const answer = await askHost(
        this.engine,
        (signal) => this.guard({ ref, percentage, step, since, signal }),
        question,
      );
      if (!isAnswer(answer)) throw new TypeError(`due.guard must return go, hold or rollback; ${later}.`);
      this.failed.delete(key);
      return answer;
    } catch (error) {
      const { lifetime, onError } = this.engine;
      if (!this.failed.has(key) && !lifetime.closing.aborted) onError(error);
      this.failed.add(key);
      return 'hold';
    }
  }
}

function isAnswer(answer: unknown): answer is GuardAnswer {
  return answer === 'go' || answer === 'hold' || answer === 'rollback';
}
