import type { ChangeSetRef } from '../base/common.types.js';
import { type Call, CHANGE_SET, call, defineOperations } from '../engine/operation.js';
import type { ChangeSet } from '../log/history.types.js';
import type { ChangePlan, PreviewQuery, UndoOptions } from './change-set.types.js';
import { commitSet, planPrepared } from './change-sets.operations.js';
import type { ChangeEngine } from './engine.js';
import { planOf, previewPlanned } from './plan.operations.js';
import { ChangesHash } from './repetition.js';
import { toContext } from './run-operation.js';
import { prepareUndo } from './undo.js';

async function undoChangeSet(engine: ChangeEngine, ref: ChangeSetRef, options: UndoOptions = {}): Promise<ChangeSet> {
  const hash = new ChangesHash();
  hash.add({ op: 'undoChangeSet', input: ref.changeSet });
  const context = toContext(options, hash);
  return commitSet(engine, [await prepareUndo(engine, ref, options)], context);
}

async function planUndo(engine: ChangeEngine, ref: ChangeSetRef, options: Authorize = {}): Promise<ChangePlan> {
  return planOf(engine, await engine.plan([await prepareUndo(engine, ref, options)]));
}

type Authorize = Pick<UndoOptions, 'authorize'>;

/** The undo of change sets. */
export const historyChangeOperations = defineOperations({
  undoChangeSet: call({
    method: 'history.undo',
    ref: CHANGE_SET,
    run: (engine: ChangeEngine, { ref, context }: Call<ChangeSetRef, undefined, UndoOptions | undefined>) =>
      undoChangeSet(engine, ref, context),
  }),
  planUndo: call({
    method: 'history.planUndo',
    ref: CHANGE_SET,
    run: (engine: ChangeEngine, { ref, context }: Call<ChangeSetRef, undefined, Authorize | undefined>) =>
      planUndo(engine, ref, context),
  }),
  previewUndo: call({
    method: 'history.previewUndo',
    ref: CHANGE_SET,
    run: (engine: ChangeEngine, { ref, context }: Call<ChangeSetRef, undefined, PreviewQuery & Authorize>) =>
      previewPlanned(engine, context, async () => planPrepared(engine, [await prepareUndo(engine, ref, context)])),
  }),
});
