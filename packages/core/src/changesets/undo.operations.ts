import type { ChangeSetRef } from '../base/common.types.js';
import { type Call, CHANGE_SET, call, defineOperations } from '../engine/operation.js';
import type { ChangePlan, PreviewQuery } from '../features/environments/plan.types.js';
import type { UndoOptions } from '../log/history.types.js';
import type { ChangeSet } from './change-set.types.js';
import { commitSet, planPrepared } from './change-sets.operations.js';
import { type EnvironmentEngine, planOf, previewPlanned } from './plan.operations.js';
import { ChangesHash } from './repetition.js';
import { toContext } from './run-operation.js';
import { prepareUndo } from './undo.js';

async function undoChangeSet(
  engine: EnvironmentEngine,
  ref: ChangeSetRef,
  options: UndoOptions = {},
): Promise<ChangeSet> {
  const hash = new ChangesHash(engine);
  hash.add({ op: 'undoChangeSet', input: ref.changeSet });
  const context = toContext(options, hash);
  return commitSet(engine, [await prepareUndo(engine, ref, options)], context);
}

async function planUndo(engine: EnvironmentEngine, ref: ChangeSetRef, options: Authorize = {}): Promise<ChangePlan> {
  return planOf(engine, await engine.plan([await prepareUndo(engine, ref, options)]));
}

type Authorize = Pick<UndoOptions, 'authorize'>;

/** The undo of change sets. */
export const historyChangeOperations = defineOperations({
  undoChangeSet: call({
    method: 'history.undo',
    ref: CHANGE_SET,
    run: (engine: EnvironmentEngine, { ref, context }: Call<ChangeSetRef, undefined, UndoOptions | undefined>) =>
      undoChangeSet(engine, ref, context),
  }),
  planUndo: call({
    method: 'history.planUndo',
    ref: CHANGE_SET,
    run: (engine: EnvironmentEngine, { ref, context }: Call<ChangeSetRef, undefined, Authorize | undefined>) =>
      planUndo(engine, ref, context),
  }),
  previewUndo: call({
    method: 'history.previewUndo',
    ref: CHANGE_SET,
    run: (engine: EnvironmentEngine, { ref, context }: Call<ChangeSetRef, undefined, PreviewQuery & Authorize>) =>
      previewPlanned(engine, context, async () => planPrepared(engine, [await prepareUndo(engine, ref, context)])),
  }),
});
