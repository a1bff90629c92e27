import type { ListPage, PageQuery } from '../../base/common.types.js';
import { pageBounds, parseCursor, takePage } from '../../base/pages.js';
import type { Engine } from '../../kernel/engine.js';
import { type Call, call, defineOperations, NO_REFERENCE, type Page } from '../../kernel/operation.js';
import type { UsageKeys, UsageStorage } from '../../storage/usage/port.js';
import { boundedSum } from '../../storage/usage/rules.js';
import { sizeOf, toApplication } from './applications.operations.js';
import { iterateSums, sumPages } from './sum-pages.js';
import type { FlagApplication, SeenFlags } from './usage.types.js';

/** Pairs per read. */
const PAGE = 1000;
/** Applications per read. Each may have 64 KiB. */
const APPLICATIONS = 50;

async function listSeenFlags(engine: Engine, query?: PageQuery): Promise<ListPage<SeenFlags>> {
  const bounds = pageBounds(query);
  return takePage(iterateSeenFlags(engine.usage, bounds.after), bounds, {
    cursorOf: ({ application }) => application,
    sizeOf: ({ flags }) => flags.reduce((sum, flag) => sum + flag.length, 0),
  });
}

async function listApplicationsByFlag(engine: Engine, query?: PageQuery): Promise<ListPage<FlagApplication>> {
  const bounds = pageBounds(query);
  const after = bounds.after === undefined ? undefined : parseCursor(bounds.after, toPair);
  return takePage(iterateApplicationsByFlag(engine.usage, after), bounds, {
    cursorOf: ({ flag, application }) => JSON.stringify([flag, application.name]),
    sizeOf: ({ application }) => sizeOf(application),
  });
}

type Pair = Pick<UsageKeys, 'flag' | 'application'>;

/** The last pair of a page. */
function toPair([flag, application]: readonly unknown[]): Pair | undefined {
  return typeof flag === 'string' && typeof application === 'string' ? { flag, application } : undefined;
}

async function* iterateSeenFlags(usage: UsageStorage, after: string | undefined): AsyncGenerator<SeenFlags> {
  const by = ['application', 'flag'] as const;
  // The next text after a name is the name with U+0000, so this skips all flags of that application.
  const start = after !== undefined && { after: { application: `${after}\u0000`, flag: '' } };
  let seen: { application: string; flags: string[]; evaluations: number } | undefined;
  for await (const sum of iterateSums(usage, { resolution: 'ever', by, limit: PAGE, ...start })) {
    if (seen && seen.application !== sum.application) yield seen;
    if (seen?.application !== sum.application) seen = { application: sum.application, flags: [], evaluations: 0 };
    seen.flags.push(sum.flag);
    seen.evaluations = boundedSum(seen.evaluations, boundedSum(sum.yes, sum.no));
  }
  if (seen) yield seen;
}

async function* iterateApplicationsByFlag(
  usage: UsageStorage,
  after: Pair | undefined,
): AsyncGenerator<FlagApplication> {
  const by = ['flag', 'application'] as const;
  const query = { resolution: 'ever', by, limit: APPLICATIONS, ...(after && { after }) } as const;
  for await (const page of sumPages(usage, query)) {
    const names = [...new Set(page.map(({ application }) => application))];
    const stored = await usage.applications({ names });
    const applications = new Map(stored.map((application) => [application.name, toApplication(application)]));
    for (const { flag, application: name } of page) {
      const application = applications.get(name);
      if (application) yield { flag, application };
    }
  }
}

/** Which applications evaluate which flags. */
export const seenFlagOperations = defineOperations({
  listSeenFlags: call({
    method: 'usage.listSeenFlags',
    ref: NO_REFERENCE,
    run: (engine: Engine, { input }: Call<undefined, Page>) => listSeenFlags(engine, input),
  }),
  listApplicationsByFlag: call({
    method: 'applications.listByFlag',
    ref: NO_REFERENCE,
    run: (engine: Engine, { input }: Call<undefined, Page>) => listApplicationsByFlag(engine, input),
  }),
});
