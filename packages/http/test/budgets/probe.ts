import { readFileSync, writeFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The effect of a request on its process; times in milliseconds, memory in bytes. */
export interface Figures {
  /**
   * The longest time without another turn of the event loop, without garbage collection and waiting for a processor.
   */
  readonly stall: number;
  /** The same by the clock, including both. */
  readonly clock: number;
  /** The longest garbage collection. */
  readonly collection: number;
  /** The peak growth of resident memory. */
  readonly added: number;
}

export interface Probe {
  begin(): Promise<void>;
  end(): Promise<Figures>;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** A time in which no timer fired, and the processor time that the process used meanwhile. */
interface Gap extends Span {
  readonly processor: number;
}

const INTERVAL = 2;
/** Shorter ones are of no interest. */
const LEAST_GAP = 10;

/**
 * Watches this process. Needs a timer every 2 ms; the observer reports collections some turns late.
 *
 * @param isThorough collects garbage before each measurement: without it, memory that is free already hides added
 * memory
 */
export function createProbe(isThorough: boolean): Probe {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  let gaps: Gap[] = [];
  let collections: Span[] = [];
  let memory = memoryMeter();
  let last = performance.now();
  let processor = processorTime();

  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      collections.push({ from: startTime, to: startTime + duration });
    }
  }).observe({ entryTypes: ['gc'] });

  setInterval(() => {
    const now = performance.now();
    const used = processorTime();
    if (now - last > LEAST_GAP) gaps.push({ from: last, to: now, processor: used - processor });
    last = now;
    processor = used;
    memory.sample();
  }, INTERVAL);

  return {
    async begin() {
      if (isThorough) collectGarbage();
      await pause(3 * INTERVAL);
      gaps = [];
      collections = [];
      memory = memoryMeter();
    },
    async end() {
      await pause(3 * INTERVAL);
      return {
        stall: longest(gaps.map((gap) => Math.min(lengthOf(gap) - overlap(gap, collections), gap.processor))),
        clock: longest(gaps.map(lengthOf)),
        collection: longest(collections.map(lengthOf)),
        added: memory.added(),
      };
    },
  };
}

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const lengthOf = ({ from, to }: Span) => to - from;
const longest = (times: readonly number[]) => times.reduce((one, other) => Math.max(one, other), 0);

function overlap(gap: Span, collections: readonly Span[]): number {
  return collections.reduce((sum, { from, to }) => {
    return sum + Math.max(0, Math.min(to, gap.to) - Math.max(from, gap.from));
  }, 0);
}

/** Linux keeps the highest resident memory, and resets it on request; elsewhere it is sampled every 2 ms. */
function memoryMeter() {
  const before = process.memoryUsage.rss();
  let sampled = before;
  const isKept = forgetPeak();
  return {
    sample() {
      if (!isKept) sampled = Math.max(sampled, process.memoryUsage.rss());
    },
    added: () => Math.max(0, (isKept ? peak() : sampled) - before),
  };
}

function forgetPeak(): boolean {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
    return true;
  } catch {
    return false;
  }
}

function peak(): number {
  const [, kibibytes] = /VmHWM:\s*(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}
