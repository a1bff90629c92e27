import { type Call, call, defineOperations, NO_REFERENCE } from '../operation.js';
import type { DueRunner } from './runner.js';

export interface DueEngine {
  readonly due: Pick<DueRunner, 'runDue'>;
  readonly memory: { readonly refresh: () => Promise<unknown> };
}

/** The operation that does what is due. */
export const dueOperations = defineOperations({
  runDue: call({
    ref: NO_REFERENCE,
    run: async ({ due, memory }: DueEngine, _: Call) => {
      // A process that does not poll has to learn what others have started.
      await memory.refresh();
      return { items: await due.runDue() };
    },
  }),
});
