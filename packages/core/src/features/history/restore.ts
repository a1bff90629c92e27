import { paced } from '../../base/paced.js';
import type { UnitOfWork } from '../../kernel/engine.js';
import type { KindWithHistory, Registry } from '../../kernel/registry.js';
import type { RestoredDocument } from '../../kernel/restorer.js';

/** A document and the state to restore; undefined: no document. */
export interface Restoration {
  readonly kind: string;
  readonly id: string;
  readonly target: unknown;
  /** Its place in the input, for refusals. */
  readonly path?: string | undefined;
}

/** The documents of one kind, and the changed ones among them. */
interface RestoredKind {
  readonly restorer: KindWithHistory['restorer'];
  readonly documents: readonly RestoredDocument<unknown>[];
  readonly changed: RestoredDocument<unknown>[];
  readonly registry: Registry;
}

/**
 * Restores documents to given states, including ids, creation times and switches. Creates parents first and deletes
 * them last. Then checks the rules between documents on the final state.
 *
 * @throws FlagsError as the single operations: for missing references, taken names, and documents that others need
 */
export async function restoreDocuments(
  registry: Registry,
  unit: UnitOfWork,
  restorations: readonly Restoration[],
): Promise<void> {
  const parentsFirst: RestoredKind[] = [];
  for (const { documents, restorer } of registry.kindsWithHistory) {
    const restored: RestoredDocument<unknown>[] = [];
    for await (const { kind, id, target, path } of paced(restorations)) {
      if (kind !== documents.kind) continue;
      const found = await unit.read<unknown>(documents, id);
      restored.push({ id, target, path, before: found?.state });
    }
    parentsFirst.push({ restorer, documents: restored, changed: [], registry });
  }
  const childrenFirst = parentsFirst.toReversed();
  for (const one of parentsFirst) await restoreAll(unit, one, ({ target }) => target !== undefined);
  for (const one of childrenFirst) await restoreAll(unit, one, ({ target }) => target === undefined);
  for (const { restorer, documents } of parentsFirst) await restorer.updateIndex?.(unit, documents);
  for (const { restorer, changed } of childrenFirst) {
    for await (const document of paced(changed)) await restorer.check?.(unit, document);
  }
}

async function restoreAll(
  unit: UnitOfWork,
  { restorer, documents, changed, registry }: RestoredKind,
  isNext: (document: RestoredDocument<unknown>) => boolean,
): Promise<void> {
  for await (const document of paced(documents)) {
    if (isNext(document) && (await restorer.restore(unit, document, registry))) changed.push(document);
  }
}
