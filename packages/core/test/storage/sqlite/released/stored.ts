import type { FlagsStorage } from '../../../../src/storage/port.js';

const KINDS = ['flag', 'project', 'token', 'segment', 'segment-registry', 'dependency'] as const;
const FLAGS = ['checkout', '__proto__', 'banner'] as const;

/** The complete content of a storage by the two ports. */
export async function storedIn(storage: FlagsStorage) {
  const list = async (part: 'body' | 'summary') =>
    (await Promise.all(KINDS.map(async (kind) => storage.list({ kind, part })))).flat();
  const { events, total } = await storage.events({ order: 'oldest-first', limit: 10_000, total: true });
  return {
    bodies: await list('body'),
    summaries: await list('summary'),
    events,
    total,
    metrics: await usageIn(storage),
  };
}

/** In the form of the files of earlier versions. */
async function usageIn({ usage }: FlagsStorage) {
  if (!usage) throw new Error('The storage has no usage.');
  const pairs = await usage.sum({ resolution: 'ever', by: ['application', 'flag'] });
  const applications = await usage.applications({ instances: true });
  const lastSeen = await usage.lastSeen(FLAGS);
  return {
    counts: await usage.sum({ resolution: 'minute', by: ['flag'] }),
    usage: pairs.map(({ application, flag, yes, no }) => ({ application, flag, count: yes + no })),
    lastSeen: FLAGS.flatMap((flag) => (lastSeen.has(flag) ? [[flag, lastSeen.get(flag)]] : [])),
    applications: applications.map(({ droppedNames, ...application }) => ({
      ...application,
      flags: pairs.flatMap((pair) => (pair.application === application.name ? [pair.flag] : [])),
      ...(droppedNames > 0 && { droppedNames }),
    })),
  };
}
