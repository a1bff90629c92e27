import { createLifetime } from '../../src/base/lifetime.js';
import { FlagsError } from '../../src/index.js';
import { askHost, isStorageError, isTransient, refusalOf } from '../../src/kernel/due/host.js';
import { type DueMode, DueRunner } from '../../src/kernel/due/runner.js';
import type { DueSource } from '../../src/kernel/due/source.js';
import { SECOND } from '../settable-clock.js';

const COUNTS = { pending: 0, overdue: 0 };

/** A source whose runs the test ends. */
function sourceOf(name: string, members: Partial<DueSource> = {}) {
  const ran: number[] = [];
  const source: DueSource & { readonly ran: readonly number[] } = {
    name,
    ran,
    nextAt: () => Number.POSITIVE_INFINITY,
    async run(now) {
      ran.push(now);
      return [];
    },
    counts: () => COUNTS,
    ...members,
  };
  return source;
}

describe('the runner of what is due', () => {
  let runner: DueRunner | undefined;
  let errors: unknown[];

  beforeEach(() => {
    errors = [];
    jest.useFakeTimers();
  });
  afterEach(() => {
    runner?.close();
    jest.useRealTimers();
  });

  function startWith(
    sources: readonly DueSource[],
    { mode = true, polls = true }: { mode?: DueMode; polls?: boolean } = {},
  ) {
    const lifetime = createLifetime();
    const options = { mode, polls, now: () => new Date(), lifetime, onError: (error: unknown) => errors.push(error) };
    runner = new DueRunner(sources, options);
    runner.start();
    return { runner, lifetime };
  }

  it('asks every source at once, and then every five seconds', async () => {
    const sources = [sourceOf('one'), sourceOf('other')];
    startWith(sources);
    await jest.advanceTimersByTimeAsync(0);
    expect(sources.map(({ ran }) => ran.length)).toEqual([1, 1]);
    await jest.advanceTimersByTimeAsync(60 * SECOND);
    expect(sources.map(({ ran }) => ran.length)).toEqual([13, 13]);
  });

  it('wakes for what is due earlier, also for what has become due meanwhile', async () => {
    const due = [500, 2_000].map((ahead) => Date.now() + ahead);
    const ran: number[] = [];
    const source = sourceOf('one', {
      nextAt: () => due.find((at) => at > (ran.at(-1) ?? 0)) ?? Number.POSITIVE_INFINITY,
      async run(now) {
        ran.push(now);
        return due.filter((at) => at === now);
      },
    });
    const { runner } = startWith([source]);
    await jest.advanceTimersByTimeAsync(3 * SECOND);
    expect(ran.slice(1)).toEqual(due);
    runner.wakeBy(Date.now() + 100);
    await jest.advanceTimersByTimeAsync(100);
    expect(ran).toHaveLength(4);
  });

  it('leaves to the next poll what a run has left undone, and goes on with what it has begun', async () => {
    const past = Date.now();
    let left = 3;
    const source = sourceOf('one', {
      nextAt: () => past,
      async run() {
        left -= 1;
        return left >= 0 ? ['done'] : [];
      },
    });
    startWith([source]);
    await jest.advanceTimersByTimeAsync(1 * SECOND);
    expect(left).toBe(-1);
    await jest.advanceTimersByTimeAsync(5 * SECOND);
    expect(left).toBe(-2);
  });

  it('lets no source wait for another one, and runs each one at a time', async () => {
    let runs = 0;
    const hanging = sourceOf('hanging', {
      run() {
        runs += 1;
        return new Promise(() => undefined);
      },
    });
    let overlapping = 0;
    const concurrent = sourceOf('concurrent', {
      isConcurrent: true,
      run() {
        overlapping += 1;
        return new Promise(() => undefined);
      },
    });
    const other = sourceOf('other');
    startWith([hanging, concurrent, other]);
    await jest.advanceTimersByTimeAsync(60 * SECOND);
    expect([runs, overlapping, other.ran.length]).toEqual([1, 13, 13]);
  });

  it('reports a failure once, until it is over', async () => {
    let fails = true;
    const failing = sourceOf('failing', {
      async run() {
        if (fails) throw new Error('no disk');
        return [];
      },
      async tidy() {
        throw new Error('read only');
      },
    });
    startWith([failing]);
    await jest.advanceTimersByTimeAsync(20 * SECOND);
    expect(errors.map(String)).toEqual(['Error: no disk', 'Error: read only']);
    fails = false;
    await jest.advanceTimersByTimeAsync(5 * SECOND);
    fails = true;
    await jest.advanceTimersByTimeAsync(5 * SECOND);
    expect(errors).toHaveLength(3);
  });

  it.each<[DueMode, boolean, number, number]>([
    [true, true, 3, 3],
    [true, false, 3, 3],
    ['elsewhere', true, 0, 3],
    [false, true, 0, 3],
    ['elsewhere', false, 0, 0],
    [false, false, 0, 0],
  ])(
    'with run %s, on an engine that polls %s, runs %i times and tidies %i times',
    async (mode, polls, runs, tidied) => {
      const tidy = jest.fn(async () => undefined);
      const source = sourceOf('one', { tidy });
      startWith([source], { mode, polls });
      await jest.advanceTimersByTimeAsync(10 * SECOND);
      expect([source.ran.length, tidy.mock.calls.length]).toEqual([runs, tidied]);
    },
  );

  it('does once what is due in any mode, in the order of the sources', async () => {
    const order = [sourceOf('one', { run: async () => ['a', 'b'] }), sourceOf('other', { run: async () => ['c'] })];
    const { runner } = startWith(order, { mode: false, polls: false });
    expect(await runner.runDue()).toEqual(['a', 'b', 'c']);
  });

  it('rejects if one source fails, after the others have run', async () => {
    let isDone = false;
    const failing = sourceOf('failing', { run: () => Promise.reject(new Error('no disk')) });
    const slow = sourceOf('slow', {
      async run() {
        await new Promise((resolve) => setTimeout(resolve, 100));
        isDone = true;
        return [];
      },
    });
    const { runner } = startWith([failing, slow], { mode: 'elsewhere', polls: false });
    const running = expect(runner.runDue()).rejects.toThrow('no disk');
    await jest.advanceTimersByTimeAsync(100);
    await running;
    expect(isDone).toBe(true);
  });

  it('sums the counts of its sources, but not where it accepts no times', () => {
    const counting = (counts: ReturnType<DueSource['counts']>) => sourceOf('one', { counts: () => counts });
    const sources = [counting({ pending: 1, overdue: 1 }), counting({ pending: 2, overdue: 0, unguarded: 3 })];
    expect(startWith(sources, { mode: 'elsewhere' }).runner.counts()).toEqual({ pending: 3, overdue: 1, unguarded: 3 });
    expect(startWith(sources, { mode: false }).runner.counts()).toBeUndefined();
  });

  it('stops when it is closed, and when the engine is', async () => {
    const source = sourceOf('one');
    const { runner } = startWith([source]);
    await jest.advanceTimersByTimeAsync(0);
    runner.close();
    await jest.advanceTimersByTimeAsync(60 * SECOND);
    expect(source.ran).toHaveLength(1);
    const later = sourceOf('later');
    const { lifetime } = startWith([later]);
    void lifetime.end(async () => undefined);
    await jest.advanceTimersByTimeAsync(60 * SECOND);
    expect([later.ran, errors]).toEqual([[], []]);
  });
});

describe('an error of what is due', () => {
  it.each([
    ['forbidden', false],
    ['flag_archived', false],
    ['storage_busy', true],
    ['storage_unavailable', true],
    ['outcome_unknown', true],
    ['too_much_contention', true],
    ['closed', true],
  ] as const)('%s is transient: %s', (code, transient) => {
    const error = new FlagsError(code, 'Why.');
    expect(isTransient(error)).toBe(transient);
    expect(refusalOf(error)).toEqual(transient ? undefined : { code, message: 'Why.', details: [{ message: 'Why.' }] });
  });

  it('of the host is transient, and no fault of the storage', () => {
    expect([isTransient(new Error('x')), refusalOf(new Error('x')), isStorageError(new Error('x'))]).toEqual([
      true,
      undefined,
      false,
    ]);
  });

  it('keeps ten details of a refusal', () => {
    const details = Array.from({ length: 20 }, (_, index) => ({ message: `${index}` }));
    expect(refusalOf(new FlagsError('invalid_input', 'x', details))?.details).toHaveLength(10);
  });
});

describe('a question to the host', () => {
  const QUESTION = { name: 'due.guard', later: 'it holds' };

  it('is answered, or given up after ten seconds and when the engine closes', async () => {
    jest.useFakeTimers();
    try {
      const lifetime = createLifetime();
      expect(await askHost({ lifetime }, async () => 'go', QUESTION)).toBe('go');
      const signals: AbortSignal[] = [];
      const hang = (signal: AbortSignal) => {
        signals.push(signal);
        return new Promise(() => undefined);
      };
      const late = expect(askHost({ lifetime }, hang, QUESTION)).rejects.toThrow(
        'due.guard failed (Error: no answer within 10000 ms); it holds.',
      );
      await jest.advanceTimersByTimeAsync(10 * SECOND);
      await late;
      const closed = expect(askHost({ lifetime }, hang, QUESTION)).rejects.toThrow('the engine was closed');
      await jest.advanceTimersByTimeAsync(0);
      void lifetime.end(async () => undefined);
      await closed;
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    } finally {
      jest.useRealTimers();
    }
  });
});
