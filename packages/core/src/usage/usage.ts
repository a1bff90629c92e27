import { setImmediate } from 'node:timers/promises';
import type { Page, PageQuery } from '../base/common.types.js';
import type { Engine } from '../changesets/engine.js';
import { arrayOf, pageBounds, parseCursor, takePage } from '../pages.js';
import type { FlagUsage, MetricsStorage, UsageQuery } from '../storage/metrics-port.js';
import { sizeOf, toApplication } from './applications.operations.js';
import type { Application, FlagApplication, SeenFlags } from './metrics.types.js';

/** Pairs per read. */
const PAGE = 1000;
/** Applications per read. Each may have 64 KiB. */
const APPLICATIONS = 50;
/** Limit of the application cache in characters. The cache helps because most flags name the same applications. */
const CACHE_SIZE = 4_194_304;

export function listSeenFlags(engine: Engine): Promise<readonly SeenFlags[]>;
export function listSeenFlags(engine: Engine, page: PageQuery): Promise<Page<SeenFlags>>;
export async function listSeenFlags(
  engine: Engine,
  query?: PageQuery,
): Promise<readonly SeenFlags[] | Page<SeenFlags>> {
  const { metrics } = engine;
  if (!query) return arrayOf(iterateSeenFlags(metrics, undefined));
  const bounds = pageBounds(engine, query);
  return takePage(iterateSeenFlags(metrics, bounds.after), bounds, {
    cursorOf: ({ appName }) => appName,
    sizeOf: ({ flags }) => flags.reduce((sum, flag) => sum + flag.length, 0),
  });
}

export function listApplicationsByFlag(engine: Engine): Promise<ReadonlyMap<string, readonly Application[]>>;
export function listApplicationsByFlag(engine: Engine, page: PageQuery): Promise<Page<FlagApplication>>;
export async function listApplicationsByFlag(
  engine: Engine,
  query?: PageQuery,
): Promise<ReadonlyMap<string, readonly Application[]> | Page<FlagApplication>> {
  const { metrics } = engine;
  if (query) {
    const bounds = pageBounds(engine, query);
    const after = bounds.after === undefined ? undefined : parseCursor(bounds.after, toPair);
    return takePage(iterateApplicationsByFlag(metrics, after), bounds, {
      cursorOf: ({ flag, application }) => JSON.stringify([flag, application.appName]),
      sizeOf: ({ application }) => sizeOf(application),
    });
  }
  const byFlag = new Map<string, Application[]>();
  for await (const { flag, application } of iterateApplicationsByFlag(metrics, undefined)) {
    const applications = byFlag.get(flag) ?? [];
    applications.push(application);
    byFlag.set(flag, applications);
  }
  return byFlag;
}

/** The last pair of a page. */
function toPair([flag, application]: readonly unknown[]): UsageQuery['after'] {
  return typeof flag === 'string' && typeof application === 'string' ? { flag, application } : undefined;
}

async function* iterateSeenFlags(metrics: MetricsStorage, after: string | undefined): AsyncGenerator<SeenFlags> {
  // The next text after a name is the name with U+0000, so this skips all flags of that application.
  const start = after === undefined ? undefined : { application: `${after}\u0000`, flag: '' };
  let seen: { appName: string; flags: string[]; metricsCount: number } | undefined;
  for await (const page of usagePages(metrics, 'application', start)) {
    for (const { application, flag, count } of page) {
      if (seen && seen.appName !== application) yield seen;
      if (seen?.appName !== application) seen = { appName: application, flags: [], metricsCount: 0 };
      seen.flags.push(flag);
      seen.metricsCount += count;
    }
  }
  if (seen) yield seen;
}

async function* iterateApplicationsByFlag(
  metrics: MetricsStorage,
  after: UsageQuery['after'],
): AsyncGenerator<FlagApplication> {
  const known = createApplicationCache(metrics);
  for await (const page of usagePages(metrics, 'flag', after)) {
    for (let first = 0; first < page.length; first += APPLICATIONS) {
      const pairs = page.slice(first, first + APPLICATIONS);
      const applications = await known(pairs.map(({ application }) => application));
      for (const { flag, application: name } of pairs) {
        const application = applications.get(name);
        if (application) yield { flag, application };
      }
    }
  }
}

/** Iterates over all pairs page by page. Yields to the event loop between pages. */
async function* usagePages(
  metrics: MetricsStorage,
  order: NonNullable<UsageQuery['order']>,
  start: UsageQuery['after'],
): AsyncGenerator<readonly FlagUsage[]> {
  let page = await metrics.usage({ order, limit: PAGE, ...(start && { after: start }) });
  for (;;) {
    yield page;
    const after = page.at(-1);
    if (!after || page.length < PAGE) return;
    await setImmediate();
    page = await metrics.usage({ order, after, limit: PAGE });
  }
}

/** Returns a function that reads applications by name, and caches them up to a limit. */
function createApplicationCache(metrics: MetricsStorage) {
  const kept = new Map<string, Application>();
  let room = CACHE_SIZE;

  return async (names: readonly string[]): Promise<ReadonlyMap<string, Application>> => {
    const missing = [...new Set(names)].filter((name) => !kept.has(name));
    if (missing.length > 0) await setImmediate();
    const read = missing.length > 0 ? await metrics.applications({ seenSince: 0, names: missing }) : [];
    const found = new Map(read.map((stored) => [stored.name, toApplication(stored)]));
    for (const name of names) {
      const application = kept.get(name);
      if (application) found.set(name, application);
    }
    for (const application of found.values()) keep(application);
    return found;
  };

  function keep(application: Application): void {
    const { appName, description, url, icon } = application;
    const size = sizeOf(application) + description.length + url.length + icon.length;
    if (kept.has(appName) || size > room) return;
    room -= size;
    kept.set(appName, application);
  }
}
