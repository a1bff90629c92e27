import { cpus, loadavg, release, totalmem, type } from 'node:os';

/** The machine and its current load, without anything that identifies its owner. */
export function machine(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() || 'unknown processor';
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB of memory`;
  const [kernel = ''] = /^\d+\.\d+/.exec(release()) ?? [];
  return `${model}, ${processors.length} cores, ${memory}, ${type()} ${kernel}, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)}`;
}
