import { compareCodePoints } from '../code-point-order.js';
import { boundedSum } from './bounded-sum.js';
import type { Applications } from './composition.js';
import type {
  ApplicationRegistration,
  FlagUsage,
  InstanceSighting,
  StoredApplication,
  StoredApplicationDetail,
  StoredInstance,
} from './port.js';

interface KnownApplication {
  about: StoredApplication;
  readonly instances: Map<string, StoredInstance>;
  readonly usage: Map<string, number>;
}

export function memoryApplications(): Applications {
  const known = new Map<string, KnownApplication>();

  const sighted = (name: string, at: number): KnownApplication => {
    const application = known.get(name) ?? newApplication(name, at);
    application.about = { ...application.about, seenAt: Math.max(application.about.seenAt, at) };
    known.set(name, application);
    return application;
  };

  return {
    add(reports) {
      for (const { application: name, instance, at, counts } of reports) {
        const { instances, usage } = sighted(name, at);
        instances.set(instance.id, sightedInstance(instances.get(instance.id), instance, at));
        for (const { flag, yes, no } of counts) usage.set(flag, boundedSum(usage.get(flag) ?? 0, yes + no));
      }
    },
    register(registration) {
      const { instance, at } = registration;
      const application = sighted(registration.application, at);
      application.about = registered(application.about, registration);
      application.instances.set(instance.id, sightedInstance(application.instances.get(instance.id), instance, at));
    },
    seenSince(time) {
      const seen = [...known.values()].filter(({ about }) => about.seenAt >= time);
      return seen.map(({ about }) => copied(about)).sort((one, other) => compareCodePoints(one.name, other.name));
    },
    detail(name) {
      const application = known.get(name);
      return application && detailOf(application);
    },
    usage: () => inNameOrder(known).flatMap(([name, { usage }]) => usageOf(name, usage)),
    forget(flag) {
      for (const { usage } of known.values()) usage.delete(flag);
    },
    dropUnseenSince(time) {
      for (const [name, { about, instances }] of known) {
        if (about.seenAt < time) known.delete(name);
        for (const { id, seenAt } of instances.values()) if (seenAt < time) instances.delete(id);
      }
    },
  };
}

function newApplication(name: string, at: number): KnownApplication {
  const about = { name, strategies: [], description: '', url: '', color: null, icon: '', createdAt: at, seenAt: at };
  return { about, instances: new Map(), usage: new Map() };
}

function registered(about: StoredApplication, registration: ApplicationRegistration): StoredApplication {
  return {
    ...about,
    strategies: [...registration.strategies],
    description: registration.description ?? about.description,
    url: registration.url ?? about.url,
    color: registration.color === undefined ? about.color : registration.color,
    icon: registration.icon ?? about.icon,
  };
}

function sightedInstance(
  stored: StoredInstance | undefined,
  { id, clientIp, sdkVersion }: InstanceSighting,
  at: number,
): StoredInstance {
  return {
    id,
    clientIp: clientIp ?? stored?.clientIp ?? '',
    sdkVersion: sdkVersion ?? stored?.sdkVersion ?? '',
    createdAt: stored?.createdAt ?? at,
    seenAt: Math.max(stored?.seenAt ?? at, at),
  };
}

function detailOf({ about, instances, usage }: KnownApplication): StoredApplicationDetail {
  return {
    ...copied(about),
    instances: inNameOrder(instances).map(([, instance]) => ({ ...instance })),
    flags: [...usage.keys()].sort(compareCodePoints),
  };
}

function usageOf(application: string, usage: ReadonlyMap<string, number>): FlagUsage[] {
  return inNameOrder(usage).map(([flag, count]) => ({ application, flag, count }));
}

function copied(about: StoredApplication): StoredApplication {
  return { ...about, strategies: [...about.strategies] };
}

function inNameOrder<T>(entries: ReadonlyMap<string, T>): [string, T][] {
  return [...entries].sort(([one], [other]) => compareCodePoints(one, other));
}
