import type { Storage } from '../../../../src/storage/port.js';

const KINDS = ['flag', 'project', 'token', 'segment', 'segment-registry', 'dependency'] as const;
const FLAGS = ['checkout', '__proto__', 'banner'] as const;

/** All that the two ports show of a storage. */
export async function storedIn(storage: Storage) {
  const list = async (part: 'body' | 'summary') =>
    (await Promise.all(KINDS.map(async (kind) => storage.list({ kind, part })))).flat();
  const { events, total } = await storage.events({ order: 'oldest-first', limit: 10_000, total: true });
  return {
    bodies: await list('body'),
    summaries: await list('summary'),
    events,
    total,
    metrics: await metricsIn(storage),
  };
}

async function metricsIn({ metrics }: Storage) {
  if (!metrics) throw new Error('The storage has no metrics.');
  const applications = await metrics.applications({ seenSince: 0 });
  return {
    counts: await metrics.counts({ after: 0 }),
    usage: await metrics.usage(),
    lastSeen: [...(await metrics.lastSeen(FLAGS))],
    applications: await Promise.all(applications.map(async ({ name }) => metrics.application(name))),
  };
}
