import { check, lostChanges } from '../../../benchmarks/src/failover/checker/check.js';
import {
  type Attempt,
  type Entry,
  type History,
  type LoggedEvent,
  parseEntries,
} from '../../../benchmarks/src/failover/checker/history.js';

const FLAGS = ['a', 'b'] as const;
const OPTIONS = { longestGap: 1_000 };

/** Three changes of both flags by two nodes, with reads, evaluations and a subscriber each. */
function soundHistory(): { entries: Entry[]; events: LoggedEvent[]; flags: History['flags'] } {
  const entries: Entry[] = [];
  const events: LoggedEvent[] = [];
  for (const node of ['n1', 'n2']) {
    entries.push({ kind: 'subscribed', node, time: 0 }, { kind: 'view', node, time: 0, values: { a: '', b: '' } });
  }
  for (const [index, id] of ['x', 'y', 'z'].entries()) {
    const revision = index + 1;
    const time = revision * 100;
    entries.push(change({ id, start: time, end: time + 10, revisions: { a: revision, b: revision } }));
    for (const flag of FLAGS) events.push({ key: `${id}-${flag}`, id, flag, revision });
    for (const node of ['n1', 'n2']) {
      const isLast = id === 'z';
      entries.push({ kind: 'read', node, flag: 'a', start: time + 20, end: time + 30, revision, value: id });
      entries.push({ kind: 'view', node, time: time + 30, values: { a: id, b: id }, ...(isLast && { isLast }) });
      for (const flag of FLAGS) entries.push({ kind: 'event', node, time: time + 40, key: `${id}-${flag}` });
    }
  }
  return { entries, events, flags: FLAGS.map((flag) => ({ flag, revision: 3, value: 'z' })) };
}

function change(attempt: Partial<Attempt> & Pick<Attempt, 'id' | 'start' | 'end'>): Attempt {
  return { kind: 'change', node: 'n1', flags: FLAGS, outcome: 'ok', ...attempt };
}

/** The same history with some entries replaced. */
function withEntries(edit: (entry: Entry) => Entry | readonly Entry[]): History {
  const history = soundHistory();
  return { ...history, entries: history.entries.flatMap(edit) };
}

const rulesOf = (history: History, options = {}) => check(history, { ...OPTIONS, ...options }).map(({ rule }) => rule);
const eventsWithout = (id: string) => soundHistory().events.filter((event) => event.id !== id);

describe('the checker of histories', () => {
  it('accepts a sound history, with outcomes that were unknown and happened, or did not', () => {
    expect(check(soundHistory(), OPTIONS)).toEqual([]);
    const repeated = withEntries((entry) => {
      if (entry.kind !== 'change') return entry;
      return [{ ...entry, end: entry.start + 5, outcome: 'unknown' }, entry];
    });
    expect(check(repeated, OPTIONS)).toEqual([]);
    const failed = withEntries((entry) => (entry.kind === 'change' ? [{ ...entry, outcome: 'failed' }, entry] : entry));
    expect(check(failed, OPTIONS)).toEqual([]);
  });

  it('finds an acknowledged commit that was dropped', () => {
    const history = { ...soundHistory(), events: eventsWithout('y') };
    const [first] = check(history, OPTIONS);
    expect(first).toMatchObject({ rule: 'acknowledged change lost', evidence: [{ id: 'y' }] });
    expect(lostChanges(history).map(({ id }) => id)).toEqual(['y']);
  });

  it('finds a change that happened although the client was told that it did not', () => {
    const history = withEntries((entry) =>
      entry.kind === 'change' && entry.id === 'y' ? { ...entry, outcome: 'failed' } : entry,
    );
    expect(rulesOf(history)).toContain('failed change happened');
  });

  it('finds an unknown outcome that nobody resolved', () => {
    const history = withEntries((entry) => (entry.kind === 'change' ? { ...entry, outcome: 'unknown' } : entry));
    expect(rulesOf(history)).toContain('outcome not resolved');
  });

  it('finds a revision that was given twice, and a change that was made twice', () => {
    const history = soundHistory();
    const events = history.events.map((event) => (event.id === 'z' ? { ...event, revision: 2 } : event));
    expect(rulesOf({ ...history, events })).toContain('revision twice');
    const again = history.events
      .filter(({ id }) => id === 'z')
      .map((one) => ({ ...one, key: `${one.key}2`, revision: 4 }));
    expect(rulesOf({ ...history, events: [...history.events, ...again] })).toContain('revision twice');
  });

  it('finds half a change set in the log and in an evaluation', () => {
    const history = soundHistory();
    const events = history.events.filter(({ key }) => key !== 'z-b');
    expect(rulesOf({ ...history, events })).toContain('half a change set');
    const halved = withEntries((entry) =>
      entry.kind === 'view' && entry.time === 230 ? { ...entry, values: { a: 'y', b: 'x' } } : entry,
    );
    expect(check(halved, OPTIONS)[0]).toMatchObject({ rule: 'half a change set', evidence: [{ kind: 'view' }] });
  });

  it('finds a read of an old value, with the answer that it contradicts', () => {
    const history = withEntries((entry) =>
      entry.kind === 'read' && entry.start === 320 && entry.node === 'n2'
        ? { ...entry, revision: 2, value: 'y' }
        : entry,
    );
    expect(check(history, OPTIONS)).toMatchObject([
      {
        rule: 'not linearizable',
        evidence: [
          { kind: 'change', id: 'z' },
          { kind: 'read', value: 'y' },
        ],
      },
    ]);
  });

  it('allows an old value while the change is under way', () => {
    const history = withEntries((entry) => {
      if (entry.kind !== 'read' || entry.start !== 220) return entry;
      return { ...entry, start: 205, revision: 1, value: 'x' };
    });
    expect(check(history, OPTIONS)).toEqual([]);
  });

  it('finds a node that goes back, one that stays behind, and one that stops', () => {
    const view = (time: number, value: string) =>
      withEntries((entry) =>
        entry.kind === 'view' && entry.node === 'n2' && entry.time === time
          ? { ...entry, values: { a: value, b: value } }
          : entry,
      );
    expect(check(view(230, ''), OPTIONS)[0]).toMatchObject({ rule: 'view goes back' });
    expect(rulesOf(view(330, 'y'))).toEqual(['node stays behind']);
    expect(rulesOf(view(230, 'dropped'))).toEqual(['view of nothing']);
    expect(rulesOf(soundHistory(), { longestGap: 50 })).toContain('evaluation interrupted');
    const failed: Entry = { kind: 'evaluation-failed', node: 'n1', time: 5, error: 'thrown' };
    const history = soundHistory();
    expect(rulesOf({ ...history, entries: [...history.entries, failed] })).toEqual(['evaluation interrupted']);
  });

  it.each([
    ['doubled', (entry: Entry) => [entry, entry]],
    ['lost', () => []],
    ['swapped', (entry: Entry) => ({ ...entry, key: 'y-b' })],
  ])('finds an event that is %s at a subscriber', (_, edit) => {
    const history = withEntries((entry) =>
      entry.kind === 'event' && entry.node === 'n2' && entry.key === 'y-a' ? edit(entry) : entry,
    );
    expect(rulesOf(history)).toEqual(['event lost, doubled or out of order']);
  });

  it('reads no more than whole lines', () => {
    const [entry] = soundHistory().entries;
    expect(parseEntries(`${JSON.stringify(entry)}\n{"kind":"vi`)).toEqual([entry]);
  });
});

describe('the checker where changes may be lost', () => {
  const lost = {
    ...soundHistory(),
    events: eventsWithout('z'),
    flags: FLAGS.map((flag) => ({ flag, revision: 2, value: 'y' })),
  };

  /** The nodes notice the loss: they say so, and go on from the state before. */
  function noticed(of: readonly ('evaluation' | 'subscriber')[]): History {
    const entries = ['n1', 'n2'].flatMap((node): Entry[] => [
      ...of.map((one): Entry => ({ kind: 'reset', node, time: 400, of: one, after: 'y-b' })),
      { kind: 'view', node, time: 410, values: { a: 'y', b: 'y' }, isLast: true },
    ]);
    return { ...lost, entries: [...lost.entries, ...entries] };
  }

  it('accepts nodes that say so', () => {
    expect(check(noticed(['evaluation', 'subscriber']), { ...OPTIONS, mayLose: true })).toEqual([]);
  });

  it('accepts other revisions before, of a change set that was repeated with its id', () => {
    const history = noticed(['evaluation', 'subscriber']);
    const entries = history.entries.map((entry) =>
      entry.kind === 'view' && entry.time === 230 ? { ...entry, values: { a: 'x', b: 'x' } } : entry,
    );
    const swapped = entries.map((entry) =>
      entry.kind === 'view' && entry.time === 130 ? { ...entry, values: { a: 'y', b: 'y' } } : entry,
    );
    expect(check({ ...history, entries: swapped }, { ...OPTIONS, mayLose: true })).toEqual([]);
  });

  it('finds nodes and subscribers that do not notice', () => {
    expect(rulesOf(lost, { mayLose: true })).toContain('view of nothing');
    expect(rulesOf(noticed(['subscriber']), { mayLose: true })).toContain('view of nothing');
    expect(rulesOf(noticed(['evaluation']), { mayLose: true })).toContain('event lost, doubled or out of order');
  });
});
