import type { Application, ApplicationFilter, MetricsOperations } from '../api/metrics.js';
import { compareCodePoints } from '../code-point-order.js';
import type { Engine } from '../engine/engine.js';
import { FlagsError } from '../errors.js';
import { groupBy } from '../group-by.js';
import type { StoredApplication } from '../metrics/port.js';
import { invalidInput } from '../validation/validator.js';
import { cutPage, pageBounds } from './pages.js';

const DAY = 86_400_000;

/** Which applications there are, and what they evaluate. */
export function applicationOperations(
  engine: Engine,
): Pick<MetricsOperations, 'listApplications' | 'pageApplications' | 'getApplication' | 'listApplicationsByFlag'> {
  const { metrics } = engine;
  return {
    async listApplications(filter = {}) {
      return listApplications(engine, filter);
    },

    async pageApplications(query = {}) {
      const bounds = pageBounds(engine, query);
      return cutPage(await listApplications(engine, query), bounds, { cursorOf: ({ appName }) => appName });
    },

    async getApplication({ application }) {
      if (typeof application !== 'string') {
        throw invalidInput([{ message: 'must name an application, as a string', path: '/application' }]);
      }
      const found = await metrics.application(application);
      if (!found) {
        throw new FlagsError('application_not_found', `No application ${application} has registered or reported.`);
      }
      const instances = found.instances.map(({ id, clientIp, seenAt, createdAt }) => {
        return { instanceId: id, clientIp, lastSeen: toTime(seenAt), createdAt: toTime(createdAt) };
      });
      return { ...toApplication(found), instances, seenFlags: found.flags };
    },

    async listApplicationsByFlag() {
      const applications = await metrics.applications({ seenSince: 0 });
      const byName = new Map(applications.map((application) => [application.name, toApplication(application)]));
      const byFlag = groupBy(await metrics.usage(), ({ flag }) => flag);
      const flags = [...byFlag.keys()].sort(compareCodePoints);
      return new Map(flags.map((flag) => [flag, usersOf(byFlag.get(flag) ?? [], byName)]));
    },
  };
}

/** Those seen within the last day, by name. */
async function listApplications(
  { metrics, now }: Engine,
  { strategies = [] }: ApplicationFilter,
): Promise<readonly Application[]> {
  const wanted = strategies.filter((strategy) => strategy !== '');
  const applications = await metrics.applications({ seenSince: now().getTime() - DAY });
  const implementing = applications.filter(
    (application) => wanted.length === 0 || wanted.some((strategy) => application.strategies.includes(strategy)),
  );
  return implementing.map(toApplication);
}

function usersOf(
  usage: readonly { readonly application: string }[],
  byName: ReadonlyMap<string, Application>,
): readonly Application[] {
  return usage.flatMap(({ application }) => byName.get(application) ?? []);
}

function toApplication(application: StoredApplication): Application {
  const { name, strategies, description, url, color, icon, createdAt, seenAt } = application;
  const times = { createdAt: toTime(createdAt), updatedAt: toTime(seenAt) };
  return { appName: name, strategies, description, url, color, icon, ...times };
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
