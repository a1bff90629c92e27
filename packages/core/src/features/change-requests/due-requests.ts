import { compareCodePoints } from '../../base/collections.js';
import { isFlagsError, type Refusal } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { sleep } from '../../base/sleep.js';
import type { DecidedSet } from '../../kernel/changes/change-engine.js';
import type { AuthorizeDue } from '../../kernel/changes/change-set.types.js';
import { createKeyedMutex } from '../../kernel/changes/change-set-writer.js';
import { toPlannedSet } from '../../kernel/changes/planned.js';
import type { ChangeSetUnit } from '../../kernel/changes/unit-of-work.js';
import { isStorageError, refusalOf } from '../../kernel/due/host.js';
import { OVERDUE } from '../../kernel/due/runner.js';
import type { DueCounts, DueSource } from '../../kernel/due/source.js';
import { actorOf } from '../../kernel/engine.js';
import { nameOf, type Versioned } from '../../storage/document-reader.js';
import type { DocumentCheck } from '../../storage/port.js';
import { askDue, assertAuthor } from '../tokens/author.js';
import * as rules from './change-request.decide.js';
import { isOpen, type RequestState, type RequestSummary } from './change-request.js';
import { ENDED, OPEN, requestDocuments, toSummary } from './change-request.kind.js';
import type { ListedChangeRequest } from './change-request.types.js';
import { finishRequest, originOf } from './decisions.js';
import type { DueRequestClock, SharedRequestEngine } from './request-engine.js';
import { listRequestSummaries, nullIfRefused, prepareRequestedChanges, projectsSeenIn, toListed } from './requests.js';

const MINUTE = 60_000;
const DAY = 86_400_000;
/** Milliseconds that one run waits for answers of the host. Then it skips the requests without an answer. */
const PATIENCE = 100;
/** How often the host is asked about one request, if the request changes while the host answers. */
const QUESTIONS = 3;
/** Documents that one commit deletes. */
const PRUNED_AT_ONCE = 100;

/** The request, or a document that it changes, has changed while the host answered. */
class HasChanged extends Error {}

export interface DueRequestsOptions {
  readonly authorize?: AuthorizeDue | undefined;
  /** The actor of events without a caller: a request fails or expires. */
  readonly actor: string;
}

/**
 * `gone`: it had ended before. `waits`: it stays open. `stop`: the storage failed, so the other requests wait for the
 * next poll.
 */
type Outcome = 'ended' | 'gone' | 'waits' | 'stop';

/**
 * Applies change requests when their time has come. All nodes may try: the set and the end of the request are one commit,
 * which expects the revision of the request.
 */
export class DueRequests implements DueSource<ListedChangeRequest>, DueRequestClock {
  readonly name = 'change requests';
  /** When each open request is due, by id, as the last read of the list found it. */
  private times = new Map<string, number>();
  /** When the last read of the list began, in milliseconds since 1970. */
  private lookedAt = Number.NEGATIVE_INFINITY;
  private prunesAt = Number.NEGATIVE_INFINITY;
  /**
   * The due times of requests that this process has written since that read, by id: the list may lack them. Undefined:
   * it has no time, or has ended.
   */
  private rescheduledTimes = new Map<string, number | undefined>();
  /** Requests that are being applied, which may wait for the host. */
  private readonly applying = new Set<string>();
  /**
   * The state at which a request lacked approvals, by its id: the position of the replica, and the revision of the
   * request.
   */
  private readonly lacking = new Map<string, string>();
  /** Requests whose error was reported, so that it is reported once. */
  private readonly reported = new Set<string>();
  /** Applies requests that touch the same document one after the other. */
  private readonly runExclusive = createKeyedMutex();

  constructor(
    private readonly engine: SharedRequestEngine,
    private readonly options: DueRequestsOptions,
  ) {}

  reschedule(request: RequestSummary): void {
    const at = isOpen(request.state) && request.at !== null ? Date.parse(request.at) : undefined;
    this.rescheduledTimes.set(request.id, at);
    if (at === undefined) this.times.delete(request.id);
    else this.times.set(request.id, at);
    if (at !== undefined) this.engine.due.wakeBy(at);
  }

  nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const [id, at] of this.times) {
      // The last read of the list has already tried the requests that were due. They wait for the next poll.
      if (at > this.lookedAt || this.rescheduledTimes.has(id)) next = Math.min(next, Math.max(at, this.lookedAt + 1));
    }
    return next;
  }

  counts(now: number): DueCounts {
    const overdue = [...this.times.values()].filter((at) => at < now - OVERDUE).length;
    return { pending: this.times.size, overdue };
  }

  /** Applies due requests by time, then by id, and ends expired ones. */
  async run(now: number): Promise<readonly ListedChangeRequest[]> {
    const due = (await this.look(now)).filter((one) => dueAt(one) <= now);
    // A request that lacks approvals is planned again when this position has moved.
    if (due.length > 0) await this.engine.memory.refresh();
    const ended: string[] = [];
    const tasks: Promise<Outcome>[] = [];
    const patience = sleep(PATIENCE, this.engine.lifetime.closing);
    for (const { id } of due.sort(byTime)) {
      if (this.engine.lifetime.closing.aborted) break;
      if (this.applying.has(id)) continue;
      const task = this.start(id).then((outcome) => {
        if (outcome === 'ended') ended.push(id);
        return outcome;
      });
      tasks.push(task);
      if ((await (this.options.authorize ? Promise.race([task, patience]) : task)) === 'stop') break;
    }
    // Without a timer, no later poll would see their results.
    if (this.engine.due.mode !== true) await Promise.all(tasks);
    await this.prune(now).catch(this.engine.onError);
    return this.listEnded(ended);
  }

  /**
   * Ignores errors of the storage: the poll of the replica reports them, and readers see expired requests as such
   * without a write.
   */
  async tidy(now: number): Promise<void> {
    if (now < this.lookedAt + MINUTE) return;
    try {
      for (const summary of await this.look(now)) {
        if (rules.statusAt(summary, new Date(now)) === 'expired') await this.end(summary.id, rules.expire);
      }
      await this.prune(now);
    } catch {
      return;
    }
  }

  /** Returns the open requests. */
  private async look(now: number): Promise<readonly RequestSummary[]> {
    this.lookedAt = now;
    this.rescheduledTimes = new Map();
    const open: RequestSummary[] = [];
    for await (const { summary } of listRequestSummaries(this.engine, OPEN)) open.push(summary);
    const times = open.flatMap(({ id, at }) => (at === null ? [] : [[id, Date.parse(at)] as const]));
    this.times = new Map(times);
    for (const [id, at] of this.rescheduledTimes) {
      if (at === undefined) this.times.delete(id);
      else this.times.set(id, at);
    }
    const ids = new Set(open.map(({ id }) => id));
    for (const known of [this.lacking, this.reported])
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    return open;
  }

  /** Applies one request. Never rejects. */
  private async start(id: string): Promise<Outcome> {
    this.applying.add(id);
    const { lifetime, onError } = this.engine;
    try {
      const outcome = await lifetime.track(() => this.applyInTurn(id));
      if (outcome !== 'waits') this.times.delete(id);
      this.reported.delete(id);
      return outcome;
    } catch (error) {
      if (lifetime.closing.aborted) return 'stop';
      if (!this.reported.has(id)) onError(error);
      this.reported.add(id);
      return isStorageError(error) ? 'stop' : 'waits';
    } finally {
      this.applying.delete(id);
    }
  }

  private async applyInTurn(id: string): Promise<Outcome> {
    const found = await this.engine.read(requestDocuments, id);
    if (!found || !isOpen(found.state.state)) return 'gone';
    const known = `${this.engine.memory.position()} ${found.revision}`;
    const isExpired = rules.statusAt(found.state, this.engine.now()) === 'expired';
    if (!isExpired && this.lacking.get(id) === known) return 'waits';
    const { authorize } = this.options;
    const work = () => this.applyOrEnd(found);
    try {
      return await (authorize ? this.runExclusive(await this.keysOf(found.state), work) : work());
    } catch (error) {
      if (error instanceof HasChanged) return 'waits';
      if (!isFlagsError(error) || error.code !== 'approval_required') throw error;
      this.lacking.set(id, known);
      return 'waits';
    }
  }

  /** Returns the names of the documents that the changes of a request touch. */
  private async keysOf(request: RequestState): Promise<readonly string[]> {
    const prepared = (await prepareRequestedChanges(this.engine, request, true).catch(nullIfRefused)) ?? [];
    const decided = await this.engine.writer.plan(prepared, actorOf(applierOf(request))).catch(nullIfRefused);
    const events = decided?.unit.events ?? [];
    return [...new Set([...prepared, ...events].map(({ subject }) => nameOf(subject)))];
  }

  /** Applies a request, or records why it failed. Rejects if the request stays open. */
  private async applyOrEnd(found: Versioned<RequestState>): Promise<Outcome> {
    const { id } = found.state;
    try {
      if (rules.statusAt(found.state, this.engine.now()) === 'expired') return await this.end(id, rules.expire);
      for (let question = 1; ; question++) {
        try {
          await this.apply(found);
          return 'ended';
        } catch (error) {
          if (!(error instanceof HasChanged) || question === QUESTIONS) throw error;
        }
      }
    } catch (error) {
      const refusal = refusalOf(error);
      if (!refusal || refusal.code === 'approval_required' || isOfThisNode(refusal)) throw error;
      if (refusal.code === 'change_request_not_open') return this.end(id, rules.expire);
      return this.end(id, (request, now) => (isOpen(request.state) ? rules.fail(request, refusal, now) : undefined));
    }
  }

  private async apply({ state: request, revision }: Versioned<RequestState>): Promise<void> {
    const { engine } = this;
    const { id, reason } = request;
    const by = applierOf(request);
    const prepared = await prepareRequestedChanges(engine, request, true);
    const { authorize } = this.options;
    const asked = authorize && (await this.ask(request, authorize, await engine.writer.plan(prepared, actorOf(by))));
    await engine.writer.run(prepared, {
      ...actorOf(by),
      reason: reason ?? undefined,
      origin: originOf(id),
      async finishSet(unit, _, set) {
        const expected = [...(asked ?? []), { key: { kind: requestDocuments.kind, id }, expected: revision }];
        await assertSame(unit, expected);
        const now = engine.now();
        await assertAuthor(unit, { author: by, what: 'change request' }, now);
        return finishRequest(unit, id, { ...set, by, now });
      },
    });
  }

  /**
   * Asks the host before any document is locked: a slow answer must not block other changes. Returns the revisions that
   * the host was asked about.
   */
  private async ask(
    request: RequestState,
    authorize: AuthorizeDue,
    decided: DecidedSet,
  ): Promise<readonly DocumentCheck[]> {
    const planned = await toPlannedSet(this.engine, decided);
    const projects = await projectsSeenIn(this.engine, planned.documents);
    const question = { authorize, author: applierOf(request), what: 'change request' } as const;
    await askDue(this.engine, question, { ...planned, projects });
    const written = decided.writes.map(({ write: { key, expected } }) => ({ key, expected }));
    return [...decided.unit.toChecks(), ...written];
  }

  private async end(
    id: string,
    decide: (request: RequestState, now: Date) => rules.DecidedRequest | undefined,
  ): Promise<Outcome> {
    const { writer, now } = this.engine;
    const { id: changeSet } = await writer.run([], {
      actor: this.options.actor,
      origin: originOf(id),
      async finishSet(unit) {
        const found = await unit.read(requestDocuments, id);
        const decided = found && decide(found.state, now());
        if (decided) await unit.record(requestDocuments, id, decided);
        return undefined;
      },
    });
    return changeSet === null ? 'gone' : 'ended';
  }

  private async listEnded(ids: readonly string[]): Promise<readonly ListedChangeRequest[]> {
    const items: ListedChangeRequest[] = [];
    for (const id of ids) {
      const found = await this.engine.read(requestDocuments, id);
      if (found) items.push(toListed(toSummary(found.state), found.revision, this.engine.now()));
    }
    return items;
  }

  /** Deletes requests that ended long ago, once a day. Their events remain. */
  private async prune(now: number): Promise<void> {
    if (now < this.prunesAt) return;
    this.prunesAt = now + DAY;
    const oldest = new Date(now - LIMITS.requestRetention).toISOString();
    const isOld = ({ endedAt }: Pick<RequestSummary, 'endedAt'>) => endedAt !== null && endedAt < oldest;
    const old: string[] = [];
    for await (const { summary } of listRequestSummaries(this.engine, ENDED)) if (isOld(summary)) old.push(summary.id);
    for (let first = 0; first < old.length; first += PRUNED_AT_ONCE) {
      await this.engine.writer.prune(requestDocuments, old.slice(first, first + PRUNED_AT_ONCE), isOld);
    }
  }
}

/** Throws {@link HasChanged} unless the documents are at these revisions. */
async function assertSame(unit: ChangeSetUnit, documents: readonly DocumentCheck[]): Promise<void> {
  for (const { key, expected } of documents) {
    if (((await unit.stored(key))?.revision ?? 0) !== expected) throw new HasChanged();
  }
}

/** Returns the person in whose name a request is applied: the one who set its time. */
function applierOf({ appliedBy, author }: RequestState) {
  return appliedBy ?? author;
}

/** Returns when a request is due or expires, in milliseconds since 1970. */
function dueAt(request: RequestSummary): number {
  return request.at === null ? rules.endsAt(request) : Date.parse(request.at);
}

function byTime(one: RequestSummary, other: RequestSummary): number {
  return dueAt(one) - dueAt(other) || compareCodePoints(one.id, other.id);
}

/**
 * Whether a refusal depends on the options of this process. Another process may still apply the request, so this one
 * only reports the refusal.
 */
function isOfThisNode({ code }: Refusal): boolean {
  return code === 'environment_not_found';
}
