import type { ChangeSetRef } from '../base/common.types.js';
import type { ChangePlan, ChangePreview, PreviewQuery } from '../features/environments/plan.types.js';
import type { UndoOptions } from '../log/history.types.js';
import type { ChangeSet } from './change-set.types.js';
import { commitSet, planPrepared } from './change-sets.operations.js';
import { type EnvironmentEngine, planOf, previewPlanned } from './plan.operations.js';
import { ChangesHash } from './repetition.js';
import { toContext } from './run-operation.js';
import { prepareUndo } from './undo.js';

export async function undoChangeSet(
  engine: EnvironmentEngine,
  ref: ChangeSetRef,
  options: UndoOptions = {},
): Promise<ChangeSet> {
  const hash = new ChangesHash(engine);
  hash.add({ op: 'undoChangeSet', input: ref.changeSet });
  const context = toContext(options, hash);
  return commitSet(engine, [await prepareUndo(engine, ref, options)], context);
}

export async function planUndo(
  engine: EnvironmentEngine,
  ref: ChangeSetRef,
  options: Pick<UndoOptions, 'authorize'> = {},
): Promise<ChangePlan> {
  return planOf(engine, await engine.plan([await prepareUndo(engine, ref, options)]));
}

export function previewUndo(
  engine: EnvironmentEngine,
  ref: ChangeSetRef,
  query: PreviewQuery & Pick<UndoOptions, 'authorize'>,
): Promise<ChangePreview> {
  return previewPlanned(engine, query, async () => planPrepared(engine, [await prepareUndo(engine, ref, query)]));
}
