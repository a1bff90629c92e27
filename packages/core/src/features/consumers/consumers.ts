import type { ConsumerRef, ListPage, PageQuery } from '../../base/common.types.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import type { Consumer, ConsumerReset } from './consumer.types.js';
import { consumerOperations as operations } from './consumers.operations.js';

/** The consumers that `flags.consume` has created, on any node: `flags.consumers`. */
export class Consumers extends Namespace {
  /**
   * Lists the consumers, by name, with their lag.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const { items } = await flags.consumers.list();
   * const failing = items.filter(({ error }) => error !== null);
   */
  list(page?: PageQuery): Promise<ListPage<Consumer>> {
    return run(this, operations.listConsumers, { input: page });
  }

  /**
   * Moves a consumer to the newest event, or to the beginning of the log. The node that runs it aborts the handler, and
   * continues there: at once if it is this one, otherwise within a third of the lease.
   *
   * @throws FlagsError `invalid_input`, `consumer_not_found`, `too_much_contention`
   * @example
   * await flags.consumers.reset({ consumer: 'audit' }, { from: 'beginning' });
   */
  reset(ref: ConsumerRef, input: ConsumerReset): Promise<void> {
    return run(this, operations.resetConsumer, { ref, input });
  }

  /**
   * Deletes a consumer. This node ends it at once, others within a third of the lease. They report `consumer_not_found` to
   * `onError`. It exists again when `consume` is called again.
   *
   * @throws FlagsError `consumer_not_found`, `too_much_contention`
   * @example
   * await flags.consumers.delete({ consumer: 'audit' });
   */
  delete(ref: ConsumerRef): Promise<void> {
    return run(this, operations.deleteConsumer, { ref });
  }
}
