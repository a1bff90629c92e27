import { openFlags } from '../../../../src/index.js';
import { sqliteStorage } from '../../../../src/sqlite.js';
import { LIFE } from '../flag-life.js';

/** Takes flags through their life cycle, five at once, until it is killed. Reports each change that was made. */
async function write(path: string): Promise<void> {
  const flags = await openFlags({ storage: sqliteStorage({ path, busyTimeout: 60_000 }), pollInterval: 0 });
  const line = async (name: string) => {
    for (let number = 0; ; number++) {
      const flag = `${process.pid}-${name}-${number}`;
      for (const [event, change] of LIFE) {
        await change(flags, flag);
        process.send?.(`${flag} ${event}`);
      }
      await flags.reportMetrics(reportOf());
      process.send?.('report');
    }
  };
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map(line));
}

function reportOf() {
  const now = new Date().toISOString();
  return { application: 'shop', start: now, stop: now, counts: { counted: { yes: 1, no: 0 } } };
}

void write(process.argv[2] ?? '');
