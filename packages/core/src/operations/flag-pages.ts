import type { FlagOperations } from '../api/flags.js';
import { flagDocuments, type StoredFlagSummary } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import type { ListedDocument } from '../storage/port.js';
import { findProject } from './find.js';
import { summarizeArchivedFlags, summarizeFlags } from './flag-lists.js';
import { toListedFlag } from './flag-views.js';
import { pageBounds, readPage } from './pages.js';

const SUMMARIES = { kind: flagDocuments.kind, part: 'summary' } as const;

/** Reads long lists of flags page by page. */
export function flagPageOperations(engine: Engine): Pick<FlagOperations, 'pageFlags' | 'pageArchivedFlags'> {
  const { read, storage } = engine;
  return {
    async pageFlags(ref, query = {}) {
      const bounds = pageBounds(engine, query);
      await findProject(read, ref);
      const page = await readPage(storage, { ...SUMMARIES, parent: ref.project, ...bounds }, isLive);
      return { ...page, items: await summarizeFlags(engine, page.items.map(toListedFlag)) };
    },

    async pageArchivedFlags({ project, ...query } = {}) {
      const bounds = pageBounds(engine, query);
      if (project !== undefined) await findProject(read, { project });
      const under = project === undefined ? {} : { parent: project };
      const page = await readPage(storage, { ...SUMMARIES, ...under, ...bounds }, isArchived);
      return { ...page, items: await summarizeArchivedFlags(engine, page.items.map(toListedFlag)) };
    },
  };
}

function isArchived({ content }: ListedDocument): boolean {
  return (content as StoredFlagSummary).archived;
}

function isLive(document: ListedDocument): boolean {
  return !isArchived(document);
}
