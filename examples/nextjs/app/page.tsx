import { cookies } from 'next/headers';
import { Banner } from '../components/banner';
import { PageFlags } from '../components/page-flags';
import { flagsForPage, getFlags } from '../lib/flags';

/** Evaluates flags for every request, because it reads a cookie. */
export default async function Page() {
  const { evaluator } = await getFlags();
  const context = { userId: (await cookies()).get('user')?.value ?? 'anonymous' };
  return (
    <PageFlags flags={await flagsForPage(context, ['banner'])}>
      <h1>{evaluator.isEnabled('checkout', context) ? 'The new checkout' : 'The old checkout'}</h1>
      <Banner />
    </PageFlags>
  );
}
