import { getFlags } from '../lib/flags';

/** Evaluates flags for every request. */
export const dynamic = 'force-dynamic';

export default async function Page() {
  const flags = await getFlags();
  return <h1>{flags.isEnabled('checkout') ? 'The new checkout' : 'The old checkout'}</h1>;
}
