import { checkDeliveries } from './deliveries.js';
import type { Attempt, Entry, History, LoggedEvent, Read, Violation } from './history.js';
import { checkViews } from './views.js';

export interface CheckOptions {
  /** In nanoseconds. A longer time between two evaluations of a node is an interruption. */
  readonly longestGap: number;
  /**
   * Whether the store may lose acknowledged changes, as a failover without synchronous replication does. Then nodes that have
   * seen a lost change must say so, and may go back once.
   */
  readonly mayLose?: boolean;
}

/** Returns every broken rule, the one with the least evidence first. */
export function check(history: History, options: CheckOptions): readonly Violation[] {
  const log = indexLog(history.events);
  const found = [
    ...checkLog(history),
    ...(options.mayLose ? [] : [...checkChanges(history, log), ...checkRegisters(history, log)]),
    ...checkViews(history, log, options),
    ...checkDeliveries(history, options),
  ];
  return found.sort((one, other) => one.evidence.length - other.evidence.length);
}

/** The acknowledged change sets that the log does not have. */
export function lostChanges({ entries, events }: History): readonly Attempt[] {
  const known = new Set(events.map(({ id }) => id));
  return attemptsOf(entries).filter(({ outcome, id }) => outcome === 'ok' && !known.has(id));
}

/** The log by change set. */
export type LogIndex = ReadonlyMap<string, readonly LoggedEvent[]>;

function indexLog(events: readonly LoggedEvent[]): LogIndex {
  const index = new Map<string, LoggedEvent[]>();
  for (const event of events) index.set(event.id, [...(index.get(event.id) ?? []), event]);
  return index;
}

function attemptsOf(entries: readonly Entry[]): readonly Attempt[] {
  return entries.filter((entry): entry is Attempt => entry.kind === 'change');
}

/** The log and the documents by themselves: every revision once, without gaps, and the last one stored. */
function checkLog({ events, flags }: History): readonly Violation[] {
  const found: Violation[] = [];
  const newest = new Map<string, LoggedEvent>();
  for (const event of events) {
    const before = newest.get(event.flag);
    if (before && event.revision !== before.revision + 1) {
      const message = `${event.flag} has revision ${event.revision} after ${before.revision} in the log`;
      found.push({ rule: 'revision twice', message, evidence: [before, event] });
    }
    newest.set(event.flag, event);
  }
  for (const flag of flags) {
    const last = newest.get(flag.flag);
    if (!last || (last.revision === flag.revision && last.id === flag.value)) continue;
    const message = `${flag.flag} is stored as ${flag.value} at ${flag.revision}, and its last event is ${last.id} at ${last.revision}`;
    found.push({ rule: 'acknowledged change lost', message, evidence: [last, flag] });
  }
  return found;
}

function checkChanges({ entries, events }: History, log: LogIndex): readonly Violation[] {
  const found: Violation[] = [];
  const sets = new Map<string, Attempt[]>();
  for (const attempt of attemptsOf(entries)) sets.set(attempt.id, [...(sets.get(attempt.id) ?? []), attempt]);
  for (const [id, attempts] of sets) {
    const logged = log.get(id) ?? [];
    const success = attempts.find(({ outcome }) => outcome === 'ok');
    const unknown = attempts.find(({ outcome }) => outcome === 'unknown');
    const last = attempts.at(-1) as Attempt;
    if (success && logged.length === 0) {
      found.push({ rule: 'acknowledged change lost', message: `${id} is not in the log`, evidence: [success] });
    } else if (logged.length > 0 && last.outcome === 'failed' && !unknown) {
      found.push({
        rule: 'failed change happened',
        message: `${id} is in the log`,
        evidence: [last, logged[0] as LoggedEvent],
      });
    }
    if (last.outcome === 'unknown') {
      found.push({ rule: 'outcome not resolved', message: `${id} was not repeated to its end`, evidence: [last] });
    }
    for (const [flag, revision] of Object.entries(success?.revisions ?? {})) {
      if (logged.length === 0 || logged.some((event) => event.flag === flag && event.revision === revision)) continue;
      const message = `${id} was acknowledged as revision ${revision} of ${flag}, which the log does not have`;
      found.push({ rule: 'acknowledged change lost', message, evidence: [success as Attempt] });
    }
    found.push(...checkWholeness(last, logged, events));
  }
  return found;
}

/** One event for each flag of the set, beside each other in the log. */
function checkWholeness({ id, flags }: Attempt, logged: readonly LoggedEvent[], events: readonly LoggedEvent[]) {
  const found: Violation[] = [];
  if (logged.length === 0) return found;
  for (const flag of flags) {
    const own = logged.filter((event) => event.flag === flag);
    if (own.length > 1) found.push({ rule: 'revision twice', message: `${id} changed ${flag} twice`, evidence: own });
    if (own.length === 0)
      found.push({ rule: 'half a change set', message: `${id} left ${flag} out`, evidence: logged });
  }
  const first = events.indexOf(logged[0] as LoggedEvent);
  if (logged.some((event, index) => events[first + index] !== event)) {
    found.push({ rule: 'half a change set', message: `${id} is torn apart in the log`, evidence: logged });
  }
  return found;
}

/** An answer that names a revision of a flag. */
interface Answer {
  readonly entry: Attempt | Read;
  readonly start: number;
  readonly end: number;
  readonly revision: number;
  readonly isWrite: boolean;
}

/**
 * Whether each flag is a linearizable register. Every answer names a revision, and the log has the revisions of the writes
 * whose outcome was unknown: so the order of the writes is given, and linearizable means that no answer contradicts time. If
 * one operation ends before another begins, its revision is not higher; it is lower if the later one is a write. A read returns
 * a value whose write had begun. Any violation is a pair, the shortest counter-example.
 */
function checkRegisters({ entries, events }: History, log: LogIndex): readonly Violation[] {
  const values = new Map(events.map(({ flag, revision, id }) => [`${flag} ${revision}`, id]));
  const begun = new Map<string, Attempt>();
  for (const attempt of attemptsOf(entries)) if (!begun.has(attempt.id)) begun.set(attempt.id, attempt);
  const answers = new Map<string, Answer[]>();
  const found: Violation[] = [];
  const add = (flag: string, answer: Answer) => answers.set(flag, [...(answers.get(flag) ?? []), answer]);
  for (const entry of entries) {
    if (entry.kind === 'read') {
      add(entry.flag, { entry, start: entry.start, end: entry.end, revision: entry.revision, isWrite: false });
      const write = begun.get(entry.value);
      const isOther = entry.value !== '' && values.get(`${entry.flag} ${entry.revision}`) !== entry.value;
      if (isOther || (write && write.start > entry.end)) {
        const message = `a read of ${entry.flag} returned ${entry.value} as revision ${entry.revision}`;
        found.push({ rule: 'not linearizable', message, evidence: [entry, ...(write ? [write] : [])] });
      }
    }
    if (entry.kind !== 'change' || entry.outcome === 'failed') continue;
    const first = begun.get(entry.id) as Attempt;
    for (const { flag, revision } of log.get(entry.id) ?? []) {
      // A repetition ends after the change: it bounds it as well as the first answer does.
      const end = entry.outcome === 'ok' ? entry.end : Number.POSITIVE_INFINITY;
      add(flag, { entry, start: first.start, end, revision, isWrite: true });
    }
  }
  for (const one of answers.values()) found.push(...findContradiction(one));
  return found;
}

/** Finds the first operation that began after one of a higher revision had ended. */
function findContradiction(answers: readonly Answer[]): readonly Violation[] {
  const ended = answers.toSorted((one, other) => one.end - other.end);
  let next = 0;
  let highest: Answer | undefined;
  for (const answer of answers.toSorted((one, other) => one.start - other.start)) {
    for (; (ended[next] as Answer).end < answer.start; next++) {
      const end = ended[next] as Answer;
      if (!highest || end.revision > highest.revision) highest = end;
    }
    if (!highest) continue;
    const isWrong = answer.isWrite ? highest.revision >= answer.revision : highest.revision > answer.revision;
    if (!isWrong) continue;
    const message = `revision ${answer.revision} was answered after revision ${highest.revision}`;
    return [{ rule: 'not linearizable', message, evidence: [highest.entry, answer.entry] }];
  }
  return [];
}
