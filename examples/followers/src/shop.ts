import { followFlags } from '@flags/follower';

/* A process without a database. It evaluates the flag in memory, and prints each change of it. */

const { FLAGS_URL: url = 'http://127.0.0.1:4242/flags', FLAGS_TOKEN: token, FLAGS_CACHE: cache } = process.env;

const flags = await followFlags({ url, token, cache, usage: { application: 'shop' } });
const print = () => console.log(`checkout is ${flags.isEnabled('checkout', { userId: '7' }) ? 'on' : 'off'}`);

process.once('SIGTERM', () => void flags.close());
process.once('SIGINT', () => void flags.close());

print();
flags.onConfigurationChange(print);
