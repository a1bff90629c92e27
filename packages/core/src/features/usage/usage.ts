import type { ListPage, PageQuery } from '../../base/common.types.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import { reportOperations } from './report.operations.js';
import { seenFlagOperations } from './seen-flags.operations.js';
import type { EvaluationCounts, SeenFlags, UsageFilter, UsagePeriod } from './usage.types.js';
import { usageOperations } from './usage-over-time.operations.js';

/** What clients report, and how often flags were evaluated: `flags.usage`. */
export class Usage extends Namespace {
  /**
   * Lists how often flags were evaluated, by the hour or the day: by flag, application, environment, then time.
   *
   * A report counts in the hour in which its period ends. Includes the evaluations of this process, and of others that
   * share the storage. The storage keeps 168 hours and 30 days, at most 1,000,000 rows; it drops the oldest rows, and
   * `status().dropped` counts them.
   *
   * With `flag`, there are no gaps: each application and environment with evaluations in that time has a row for every
   * hour or day. With `environment` and `application` too, the rows exist even without evaluations. Without `flag`, rows
   * of zero are left out. The whole list is in memory; a page has at most 1 MiB.
   *
   * @throws FlagsError `invalid_input`, `flag_not_found`
   * @example
   * const { items } = await flags.usage.list({ flag: 'checkout', days: 7 });
   * for (const { day, yes, no } of items) console.log(day, yes, no);
   */
  list(filter?: UsageFilter, page?: PageQuery): Promise<ListPage<UsagePeriod>> {
    return run(this, usageOperations.listUsage, { input: filter, context: page });
  }

  /**
   * Counts the evaluations of each flag in the last minute and the last hour. A report counts at the end of its period.
   * The windows slide with the clock by the minute, so both may reach up to a minute further back.
   *
   * @example
   * const { yes, no } = (await flags.usage.count()).lastHour.get('checkout') ?? { yes: 0, no: 0 };
   */
  count(): Promise<EvaluationCounts> {
    return run(this, reportOperations.countEvaluations, {});
  }

  /**
   * Lists the evaluated flags of each application, by application name. Includes at least the reports of the last hour.
   * A page has at most 1 MiB.
   *
   * @example
   * const { items } = await flags.usage.listSeenFlags();
   * for (const { application, evaluations } of items) console.log(application, evaluations);
   */
  listSeenFlags(page?: PageQuery): Promise<ListPage<SeenFlags>> {
    return run(this, seenFlagOperations.listSeenFlags, { input: page });
  }
}
