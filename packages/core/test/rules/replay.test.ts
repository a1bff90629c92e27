import type { Aggregate } from '../../src/changesets/documents.js';
import { flagDocuments } from '../../src/flags/flag-documents.js';
import { createFlags, memoryStorage } from '../../src/index.js';
import { segmentDocuments } from '../../src/segments/segment.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from './references.js';

const SEGMENT = { segment: 1 };

async function livedIn() {
  const storage = memoryStorage();
  const flags = await createFlags({ storage });
  for (const name of ['checkout', 'payments', 'search']) await flags.createFlag(DEFAULT, { name });
  await flags.createSegment({ name: 'beta', constraints: [] });
  await flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] });
  await flags.updateSegment(SEGMENT, { description: 'Early', constraints: [] });
  await flags.addDependency(CHECKOUT, { flag: 'payments' });
  await flags.addDependency(CHECKOUT, { flag: 'search' });
  await flags.addDependency(CHECKOUT, { flag: 'payments', variants: ['blue'] });
  await flags.removeDependency(CHECKOUT, { flag: 'search' });
  await flags.cloneFlag(CHECKOUT, { name: 'copy' });
  return storage;
}

type Documents = Pick<Aggregate<unknown, never>, 'kind' | 'evolve'>;

describe.each<Documents>([flagDocuments as Documents, segmentDocuments as Documents])(
  'the events of a $kind',
  (documents) => {
    it('give the document when they are replayed', async () => {
      const storage = await livedIn();
      const listed = await storage.list({ kind: documents.kind, part: 'body' });
      expect(listed.length).toBeGreaterThan(0);
      for (const { key, content } of listed) {
        const { events } = await storage.events({ order: 'oldest-first', filter: { subject: key }, limit: 100 });
        const replayed = events.reduce<unknown>((state, event) => documents.evolve(state, event as never), undefined);
        expect(replayed).toEqual(content);
      }
    });
  },
);
