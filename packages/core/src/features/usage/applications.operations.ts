import type { ApplicationRef, ListPage, PageQuery } from '../../base/common.types.js';
import { FlagsError } from '../../base/errors.js';
import { nextTurn } from '../../base/paced.js';
import { pageBounds, parseCursor, takePage } from '../../base/pages.js';
import { invalidInput } from '../../base/validator.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import type { Engine } from '../../kernel/engine.js';
import { type Call, call, defineOperations, NO_REFERENCE, type Page } from '../../kernel/operation.js';
import type { StoredApplication, UsageKeys, UsageStorage } from '../../storage/usage/port.js';
import { iterateSums, sumPages } from './sum-pages.js';
import type { Application, ApplicationDetail, ApplicationFilter, FlagApplication } from './usage.types.js';

const DAY = 86_400_000;
/** Applications per read. Each may have 64 KiB. */
const PAGE = 20;
/** Flags per read. */
const SEEN_FLAGS = 1000;
/** Pairs of a flag and an application per read. */
const PAIRS = 50;

async function listApplications(
  engine: Engine,
  filter?: ApplicationFilter,
  query?: PageQuery,
): Promise<ListPage<Application>> {
  const bounds = pageBounds(query);
  const applications = iterateApplications(engine, filter, bounds.after);
  return takePage(applications, bounds, { sizeOf, cursorOf: ({ name }) => name });
}

async function getApplication({ usage }: Engine, ref: ApplicationRef): Promise<ApplicationDetail> {
  const name = nameIn(ref);
  const [found] = await usage.applications({ names: [name], instances: true });
  if (!found) throw notFound(ref);
  const seenFlags: string[] = [];
  const by = ['application', 'flag'] as const;
  const query = { resolution: 'ever', by, application: name, limit: SEEN_FLAGS } as const;
  for await (const { flag } of iterateSums(usage, query)) seenFlags.push(flag);
  const { instances: stored = [], droppedNames } = found;
  const instances = stored.map(({ id, clientIp, seenAt, createdAt }) => {
    return { id, clientIp, lastSeenAt: toTime(seenAt), createdAt: toTime(createdAt) };
  });
  return { ...toApplication(found), instances, seenFlags, ...(droppedNames > 0 && { droppedNames }) };
}

async function deleteApplication({ usage }: Engine, ref: ApplicationRef): Promise<void> {
  if (!(await usage.forget({ application: nameIn(ref) }))) throw notFound(ref);
}

/** Returns the approximate size in characters. The strategies make up most of it. */
function sizeOf({ name, strategies }: Application): number {
  return strategies.reduce((sum, strategy) => sum + strategy.length, name.length);
}

function nameIn({ application }: ApplicationRef): string {
  if (typeof application === 'string') return application;
  throw invalidInput([{ message: 'must name an application, as a string', path: '/application' }]);
}

function notFound({ application }: ApplicationRef): FlagsError {
  return new FlagsError('application_not_found', `No application ${application} has registered or reported.`);
}

/** Iterates over the applications seen within the last day, by name, starting after `after`. */
async function* iterateApplications(
  { usage, now }: Engine,
  { strategies = [] }: ApplicationFilter = {},
  after?: string,
): AsyncGenerator<Application> {
  const wanted = strategies.filter((strategy) => strategy !== '');
  const query = { seenSince: now().getTime() - DAY, limit: PAGE };
  let page = await usage.applications({ ...query, ...(after !== undefined && { after }) });
  for (;;) {
    for (const application of page) {
      const isWanted = wanted.length === 0 || wanted.some((strategy) => application.strategies.includes(strategy));
      if (isWanted) yield toApplication(application);
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    await nextTurn();
    page = await usage.applications({ ...query, after: last.name });
  }
}

/** Converts a stored application to the public type. */
function toApplication(application: StoredApplication): Application {
  const { name, strategies, description, url, color, icon, createdAt, seenAt } = application;
  const times = { createdAt: toTime(createdAt), updatedAt: toTime(seenAt) };
  return { name, strategies, description, url, color, icon, ...times };
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

async function listApplicationsByFlag(engine: Engine, query?: PageQuery): Promise<ListPage<FlagApplication>> {
  const bounds = pageBounds(query);
  const after = bounds.after === undefined ? undefined : parseCursor(bounds.after, toPair);
  return takePage(iterateApplicationsByFlag(engine.usage, after), bounds, {
    cursorOf: ({ flag, application }) => JSON.stringify([flag, application.name]),
    sizeOf: ({ application }) => sizeOf(application),
  });
}

type Pair = Pick<UsageKeys, 'flag' | 'application'>;

/** The last pair of a page. */
function toPair([flag, application]: readonly unknown[]): Pair | undefined {
  return typeof flag === 'string' && typeof application === 'string' ? { flag, application } : undefined;
}

async function* iterateApplicationsByFlag(
  usage: UsageStorage,
  after: Pair | undefined,
): AsyncGenerator<FlagApplication> {
  const by = ['flag', 'application'] as const;
  const query = { resolution: 'ever', by, limit: PAIRS, ...(after && { after }) } as const;
  for await (const page of sumPages(usage, query)) {
    const names = [...new Set(page.map(({ application }) => application))];
    const stored = await usage.applications({ names });
    const applications = new Map(stored.map((application) => [application.name, toApplication(application)]));
    for (const { flag, application: name } of page) {
      const application = applications.get(name);
      if (application) yield { flag, application };
    }
  }
}

/** The operations of applications. */
export const applicationOperations = defineOperations({
  listApplications: call({
    method: 'applications.list',
    ref: ['strategies?'],
    run: (engine: Engine, { ref, context }: Call<ApplicationFilter | undefined, undefined, Page>) =>
      listApplications(engine, ref, context),
  }),
  listApplicationsByFlag: call({
    method: 'applications.listByFlag',
    ref: NO_REFERENCE,
    run: (engine: Engine, { input }: Call<undefined, Page>) => listApplicationsByFlag(engine, input),
  }),
  getApplication: call({
    method: 'applications.get',
    ref: ['application'],
    run: (engine: Engine, { ref }: Call<ApplicationRef>) => getApplication(engine, ref),
  }),
  deleteApplication: call({
    method: 'applications.delete',
    ref: ['application'],
    run: (engine: Engine, { ref }: Call<ApplicationRef>) => deleteApplication(engine, ref),
  }),
});

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
    return run(this, applicationOperations.listApplications, { ref: filter, context: page });
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
    return run(this, applicationOperations.listApplicationsByFlag, { input: page });
  }

  /**
   * Gets an application with its instances and evaluated flags.
   *
   * @throws FlagsError `application_not_found`
   * @example
   * const { instances } = await flags.applications.get({ application: 'web' });
   */
  get(ref: ApplicationRef): Promise<ApplicationDetail> {
    return run(this, applicationOperations.getApplication, { ref });
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
    return run(this, applicationOperations.deleteApplication, { ref });
  }
}
