import type { ChangeSetRef } from '../../base/common.types.js';
import type { ChangeSet } from '../../kernel/changes/change-set.types.js';
import { commitSet, planPrepared } from '../../kernel/changes/change-sets.operations.js';
import { ChangesHash } from '../../kernel/changes/repetition.js';
import { toContext } from '../../kernel/changes/run-operation.js';
import type { Engine } from '../../kernel/engine.js';
import { type Call, CHANGE_SET, call, defineOperations, singleOperation } from '../../kernel/operation.js';
import { type EnvironmentEngine, planOf, previewPlanned } from '../environments/plan.operations.js';
import type { ChangePlan, PreviewQuery } from '../environments/plan.types.js';
import type { UndoOptions } from './history.types.js';
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
export const undoOperations = defineOperations({
  // A change request contains it as a change. Its method returns the whole set.
  undoChangeSet: {
    ...singleOperation({
      method: 'history.undo',
      ref: CHANGE_SET,
      isInRequests: 'alone',
      prepare: (engine: Engine, ref: ChangeSetRef, _input: unknown) => prepareUndo(engine, ref),
    }),
    run: (engine: EnvironmentEngine, { ref, context }: Call<ChangeSetRef, undefined, UndoOptions | undefined>) =>
      undoChangeSet(engine, ref, context),
  },
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
