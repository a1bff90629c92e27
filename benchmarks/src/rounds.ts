/** Two ways to do the same. Each call does one operation, the one of this number. */
export interface Contest {
  readonly name: string;
  /** Calls of each side in one round. */
  readonly perRound: number;
  /** How many operations one call stands for; 1 when absent. */
  readonly perCall?: number;
  /** What is measured. */
  core(call: number): Promise<unknown>;
  /** What it is measured by. */
  bare(call: number): unknown;
}

/** Microseconds per operation. */
export interface Figures {
  /** The median of the single calls' times. */
  readonly time: number;
  /** The mean of the processor's time, with that of the garbage collection; it hardly depends on who else is running. */
  readonly cpu: number;
}

export interface Outcome {
  readonly core: Figures;
  readonly bare: Figures;
}

/** The sides take turns, so that what disturbs the machine disturbs both. The first round only warms up. */
export async function compete(contest: Contest, rounds: number): Promise<Outcome> {
  const { core, bare, perRound, perCall = 1 } = contest;
  await runRound(core, 0, perRound);
  await runRound(bare, 0, perRound);
  const figures: { core: Figures[]; bare: Figures[] } = { core: [], bare: [] };
  for (let round = 1; round <= rounds; round++) {
    figures.core.push(await runRound(core, round * perRound, perRound));
    figures.bare.push(await runRound(bare, round * perRound, perRound));
  }
  return { core: summary(figures.core, perCall), bare: summary(figures.bare, perCall) };
}

async function runRound(run: (call: number) => unknown, first: number, count: number): Promise<Figures> {
  const times: number[] = [];
  const before = process.cpuUsage();
  for (let call = first; call < first + count; call++) {
    const started = performance.now();
    const result = run(call);
    // What is done at once is not made to wait.
    if (result instanceof Promise) await result;
    times.push((performance.now() - started) * 1000);
  }
  const { user, system } = process.cpuUsage(before);
  return { time: median(times), cpu: (user + system) / count };
}

function summary(rounds: readonly Figures[], perCall: number): Figures {
  const cpu = rounds.reduce((sum, round) => sum + round.cpu, 0) / rounds.length;
  return { time: median(rounds.map(({ time }) => time)) / perCall, cpu: cpu / perCall };
}

export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
