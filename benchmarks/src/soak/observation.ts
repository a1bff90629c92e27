import type { Load } from './load.js';
import type { NodeProcess } from './node-process.js';
import type { FileSample, Probe } from './probe.js';

/** One observation. Its figures are those of the worse process. */
export interface Observation extends FileSample {
  /** Milliseconds. */
  readonly at: number;
  readonly heap: number;
  readonly buffers: number;
  readonly resident: number;
  readonly handles: number;
  /** Milliseconds. */
  readonly delayMedian: number;
  readonly delayP99: number;
  readonly delayLongest: number;
  readonly answered: number;
  /** The processor time of all processes since their start, in microseconds. */
  readonly processorTime: number;
  readonly evaluations: number;
}

export interface Observed {
  readonly nodes: readonly NodeProcess[];
  readonly load: Load;
  readonly probe: Probe;
}

export async function observe({ nodes, load, probe }: Observed): Promise<Observation> {
  const samples = await Promise.all(nodes.map((node) => node.sample()));
  const worst = (figure: (sample: (typeof samples)[number]) => number) => Math.max(...samples.map(figure));
  const sum = (figure: (sample: (typeof samples)[number]) => number) =>
    samples.reduce((total, sample) => total + figure(sample), 0);
  return {
    at: performance.now(),
    ...probe.sample(),
    heap: worst(({ heap }) => heap),
    buffers: worst(({ buffers }) => buffers),
    resident: worst(({ resident }) => resident),
    handles: worst(({ handles }) => handles),
    delayMedian: worst(({ delay }) => delay.median),
    delayP99: worst(({ delay }) => delay.p99),
    delayLongest: worst(({ delay }) => delay.longest),
    answered: load.progress().answered,
    processorTime: sum(({ processorTime }) => processorTime),
    evaluations: sum(({ evaluations }) => evaluations),
  };
}
