import { openFlags } from '@flags/core';
import { postgresStorage } from '@flags/postgres';

const PLACE = { project: 'default', flag: 'checkout', environment: 'production' };

/** Milliseconds since 1970, finer than whole ones: processes of one machine share the clock. */
const now = () => performance.timeOrigin + performance.now();

/** A node that switches the flag on request, and reports when its evaluation changes. */
async function main(url: string, listen: boolean): Promise<void> {
  const storage = postgresStorage({ connectionString: url, schema: 'converging', listen });
  const flags = await openFlags({ storage, usage: { interval: 0 }, onError: () => undefined });
  let known = flags.isEnabled('checkout');
  flags.onConfigurationChange(() => {
    const on = flags.isEnabled('checkout');
    if (on !== known) process.send?.({ evaluated: on, at: now() });
    known = on;
  });
  process.on('message', async (on: boolean) => {
    const begun = now();
    await (on ? flags.enable(PLACE) : flags.disable(PLACE));
    process.send?.({ acknowledged: on, begun, at: now() });
  });
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

await main(process.argv[2] ?? '', process.argv[3] === 'listen');
