import type { ApplicationRef, ListPage, PageQuery } from '../../base/common.types.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import { applicationOperations as operations } from './applications.operations.js';
import { seenFlagOperations } from './seen-flags.operations.js';
import type { Application, ApplicationDetail, ApplicationFilter, FlagApplication } from './usage.types.js';

/** The programs that report usage: `flags.applications`. */
export class Applications extends Namespace {
  /**
   * Lists the applications seen within the last day, by name. With `strategies`, lists only applications that implement
   * any of them. The whole list is in memory, up to 64 KiB per application; a page has at most 1 MiB.
   *
   * @example
   * const { items: apps } = await flags.applications.list({ strategies: ['flexibleRollout'] });
   */
  list(filter?: ApplicationFilter, page?: PageQuery): Promise<ListPage<Application>> {
    return run(this, operations.listApplications, { ref: filter, context: page });
  }

  /**
   * Lists the applications that have evaluated each flag: pairs in code-point order of flag, then application. The
   * whole list is in memory; a page has at most 1 MiB.
   *
   * @example
   * const { items } = await flags.applications.listByFlag();
   * const users = items.filter(({ flag }) => flag === 'checkout').map(({ application }) => application.name);
   */
  listByFlag(page?: PageQuery): Promise<ListPage<FlagApplication>> {
    return run(this, seenFlagOperations.listApplicationsByFlag, { input: page });
  }

  /**
   * Gets an application with its instances and evaluated flags.
   *
   * @throws FlagsError `application_not_found`
   * @example
   * const { instances } = await flags.applications.get({ application: 'web' });
   */
  get(ref: ApplicationRef): Promise<ApplicationDetail> {
    return run(this, operations.getApplication, { ref });
  }

  /**
   * Deletes an application with its instances and evaluated flags. The counts of flags stay. The next registration or
   * report of the application creates it again.
   *
   * @throws FlagsError `application_not_found`
   * @example
   * await flags.applications.delete({ application: 'web' });
   */
  delete(ref: ApplicationRef): Promise<void> {
    return run(this, operations.deleteApplication, { ref });
  }
}
