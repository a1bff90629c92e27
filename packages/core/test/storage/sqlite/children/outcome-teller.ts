import { type Flags, isFlagsError, openFlags } from '../../../../src/index.js';
import { sqliteStorage } from '../../../../src/sqlite.js';
import { LIFE } from '../flag-life.js';

/**
 * Takes flags through their life cycle, five at once, and reports usage on two lines, until it is killed. Reports what
 * became of each change and report.
 */
async function write(path: string): Promise<void> {
  const flags = await openFlags({ storage: sqliteStorage(path), pollInterval: 0, usage: { interval: 0 } });
  const line = (begin: (flags: Flags, flag: string) => Promise<unknown>) => async (name: string) => {
    for (let number = 0; ; number++) await begin(flags, `${process.pid}-${name}-${number}`);
  };
  await Promise.all([...['a', 'b', 'c', 'd', 'e'].map(line(live)), ...['y', 'z'].map(line(report))]);
}

/** Ends at a failed change, because later changes of the same flag depend on it. */
async function live(flags: Flags, flag: string): Promise<void> {
  for (const [event, change] of LIFE) {
    if ((await told(`${flag} ${event}`, () => change(flags, flag))) !== 'done') return;
  }
}

/**
 * Reports each flag once, so that the stored usage shows which reports were stored. The flags do not exist, and the
 * storage keeps the last 100 such names of an application. Each line therefore reports as an application of its own.
 */
function report(flags: Flags, flag: string): Promise<string> {
  const now = new Date().toISOString();
  const counted = { start: now, stop: now, counts: { [flag]: { yes: 1, no: 0 } } };
  const application = flag.slice(0, flag.lastIndexOf('-'));
  return told(`${flag} reported`, () => flags.reportMetrics({ application, instance: '1', ...counted }));
}

async function told(what: string, work: () => Promise<unknown>): Promise<string> {
  const outcome = await work().then(
    () => 'done',
    (error) => (isFlagsError(error) ? error.code : String(error)),
  );
  process.send?.([what, outcome]);
  return outcome;
}

void write(process.argv[2] ?? '');
