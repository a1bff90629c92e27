import { followFlags } from '@flags/follower';

/* A process without a database. It evaluates the flag in memory, and prints each change of it. */

const { FLAGS_URL: url = 'http://127.0.0.1:4242/flags', FLAGS_TOKEN: token, FLAGS_CACHE: cache } = process.env;

const flags = await followFlags({ url, token, cache, usage: { application: 'shop' } });
const print = () => console.log(`checkout is ${flags.isEnabled('checkout', { userId: '7' }) ? 'on' : 'off'}`);

// The work of the service: without any, a process ends while the server is away, because a follower does not keep it running.
const work = setInterval(() => flags.isEnabled('checkout', { userId: '7' }), 1000);

process.once('SIGTERM', stop);
process.once('SIGINT', stop);

print();
flags.onConfigurationChange(print);

function stop(): void {
  clearInterval(work);
  void flags.close();
}
