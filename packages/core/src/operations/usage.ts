import { setImmediate } from 'node:timers/promises';
import type { Application, FlagApplication, MetricsOperations, SeenFlags } from '../api/metrics.js';
import type { Engine } from '../engine/engine.js';
import type { FlagUsage, MetricsStorage, UsageQuery } from '../metrics/port.js';
import { iterateApplications, toApplication } from './applications.js';
import { arrayOf } from './array-of.js';

/** So many pairs are read at once. */
const PAGE = 1000;
/** So many applications are read at once: each may have 64 KiB. */
const APPLICATIONS = 20;
/** How many characters of applications are kept while they are read flag by flag: most flags name the same ones. */
const KEPT_TEXT = 4_194_304;

/** What is read while it is iterated over. */
export function metricsIterators(
  engine: Engine,
): Pick<MetricsOperations, 'iterateSeenFlags' | 'iterateApplications' | 'iterateApplicationsByFlag'> {
  return {
    iterateSeenFlags: () => iterateSeenFlags(engine),
    iterateApplications: (filter) => iterateApplications(engine, filter),
    iterateApplicationsByFlag: () => iterateApplicationsByFlag(engine),
  };
}

/** The same, whole. */
export function usageOperations(engine: Engine): Pick<MetricsOperations, 'listSeenFlags' | 'listApplicationsByFlag'> {
  return {
    listSeenFlags: () => arrayOf(iterateSeenFlags(engine)),
    async listApplicationsByFlag() {
      const byFlag = new Map<string, Application[]>();
      for await (const { flag, application } of iterateApplicationsByFlag(engine)) {
        const applications = byFlag.get(flag) ?? [];
        applications.push(application);
        byFlag.set(flag, applications);
      }
      return byFlag;
    },
  };
}

async function* iterateSeenFlags({ metrics }: Engine): AsyncGenerator<SeenFlags> {
  let seen: { appName: string; flags: string[]; metricsCount: number } | undefined;
  for await (const page of usagePages(metrics, 'application')) {
    for (const { application, flag, count } of page) {
      if (seen && seen.appName !== application) yield seen;
      if (seen?.appName !== application) seen = { appName: application, flags: [], metricsCount: 0 };
      seen.flags.push(flag);
      seen.metricsCount += count;
    }
  }
  if (seen) yield seen;
}

async function* iterateApplicationsByFlag({ metrics }: Engine): AsyncGenerator<FlagApplication> {
  const known = createApplicationCache(metrics);
  for await (const page of usagePages(metrics, 'flag')) {
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

/** All pairs, a page at a time; between pages the process does what else there is to do. */
async function* usagePages(
  metrics: MetricsStorage,
  order: NonNullable<UsageQuery['order']>,
): AsyncGenerator<readonly FlagUsage[]> {
  let page = await metrics.usage({ order, limit: PAGE });
  for (;;) {
    yield page;
    const after = page.at(-1);
    if (!after || page.length < PAGE) return;
    await setImmediate();
    page = await metrics.usage({ order, after, limit: PAGE });
  }
}

/** Reads applications by name, and keeps them while they are not too long. */
function createApplicationCache(metrics: MetricsStorage) {
  const kept = new Map<string, Application>();
  let room = KEPT_TEXT;

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
    const { appName, strategies, description, url, icon } = application;
    const size = appName.length + strategies.join().length + description.length + url.length + icon.length;
    if (kept.has(appName) || size > room) return;
    room -= size;
    kept.set(appName, application);
  }
}
