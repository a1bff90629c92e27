import { setImmediate } from 'node:timers/promises';
import type { ApplicationRef, ListPage, PageQuery } from '../../base/common.types.js';
import { FlagsError } from '../../base/errors.js';
import { pageBounds, takePage } from '../../base/pages.js';
import { invalidInput } from '../../base/validator.js';
import type { Engine } from '../../kernel/engine.js';
import { type Call, call, defineOperations, type Page } from '../../kernel/operation.js';
import type { StoredApplication } from '../../storage/usage/port.js';
import { iterateSums } from './sum-pages.js';
import type { Application, ApplicationDetail, ApplicationFilter } from './usage.types.js';

const DAY = 86_400_000;
/** Applications per read. Each may have 64 KiB. */
const PAGE = 20;
/** Flags per read. */
const SEEN_FLAGS = 1000;

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
export function sizeOf({ name, strategies }: Application): number {
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
    await setImmediate();
    page = await usage.applications({ ...query, after: last.name });
  }
}

/** Converts a stored application to the public type. */
export function toApplication(application: StoredApplication): Application {
  const { name, strategies, description, url, color, icon, createdAt, seenAt } = application;
  const times = { createdAt: toTime(createdAt), updatedAt: toTime(seenAt) };
  return { name, strategies, description, url, color, icon, ...times };
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** The operations of applications. */
export const applicationOperations = defineOperations({
  listApplications: call({
    method: 'applications.list',
    ref: ['strategies?'],
    run: (engine: Engine, { ref, context }: Call<ApplicationFilter | undefined, undefined, Page>) =>
      listApplications(engine, ref, context),
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
