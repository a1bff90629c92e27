import { compareCodePoints } from '../../collections.js';
import { LIMITS } from '../../validation/limits.js';
import type { Applications } from '../metrics-composition.js';
import type { ApplicationRegistration, InstanceSighting, StoredApplication, StoredInstance } from '../metrics-port.js';
import { visitInSlices } from '../slices.js';
import { memoryTimedUsage } from './timed-usage.js';
import { createMemoryBudget, createMemoryUsage } from './usage.js';

interface KnownApplication {
  about: StoredApplication;
  readonly instances: Map<string, StoredInstance>;
}

/** Estimated size of an object without its texts, in bytes. */
const OBJECT = 200;

/** Adds nothing that would exceed `LIMITS.applicationsInMemory`. Known applications are still updated. */
export function memoryApplications(): Applications {
  const known = new Map<string, KnownApplication>();
  const budget = createMemoryBudget();
  const usage = createMemoryUsage(budget);
  const timed = memoryTimedUsage();

  function see({ about, instances }: KnownApplication, instance: InstanceSighting, at: number): StoredApplication {
    const before = instances.get(instance.id);
    const next = sightedInstance(before, instance, at);
    const growth = instanceSize(next) - (before ? instanceSize(before) : 0);
    if (before || budget.hasRoom(growth)) {
      budget.take(growth);
      instances.set(instance.id, next);
      if (instances.size > LIMITS.instancesPerApplication) dropLeastRecent(instances);
    }
    return { ...about, seenAt: Math.max(about.seenAt, at) };
  }

  function dropLeastRecent(instances: Map<string, StoredInstance>): void {
    const oldest = [...instances.values()].reduce((one, other) => (other.seenAt < one.seenAt ? other : one));
    instances.delete(oldest.id);
    budget.take(-instanceSize(oldest));
  }

  function admit(name: string, at: number): boolean {
    if (known.has(name)) return true;
    const application = newApplication(name, at);
    const size = applicationSize(application.about);
    if (known.size >= LIMITS.applications || !budget.hasRoom(size)) return false;
    budget.take(size);
    known.set(name, application);
    return true;
  }

  function remove(name: string): void {
    const application = known.get(name);
    if (!application) return;
    budget.take(-applicationSize(application.about));
    for (const instance of application.instances.values()) budget.take(-instanceSize(instance));
    usage.removeApplication(name);
    known.delete(name);
  }

  return {
    admit(sightings) {
      const admitted = new Set<string>();
      for (const { application, at } of sightings) if (admit(application, at)) admitted.add(application);
      return admitted;
    },
    has: (name) => known.has(name),
    add(reports) {
      let dropped = 0;
      for (const report of reports) {
        const { application: name, instance, at, counts } = report;
        const application = known.get(name);
        if (!application) continue;
        application.about = see(application, instance, at);
        usage.add(name, counts);
        dropped += timed.add(report);
      }
      return dropped;
    },
    register(registration) {
      const application = known.get(registration.application);
      if (!application) return;
      const about = registered(see(application, registration.instance, registration.at), registration);
      const growth = applicationSize(about) - applicationSize(application.about);
      if (growth > 0 && !budget.hasRoom(growth)) return;
      budget.take(growth);
      application.about = about;
    },
    list({ seenSince, names, after, limit }) {
      const wanted = names ? names.flatMap((name) => known.get(name) ?? []) : [...known.values()];
      const found = wanted
        .map(({ about }) => about)
        .filter(({ name, seenAt }) => seenAt >= seenSince && (!after || compareCodePoints(name, after) > 0));
      return found
        .sort((one, other) => compareCodePoints(one.name, other.name))
        .slice(0, limit)
        .map(copied);
    },
    detail(name) {
      const application = known.get(name);
      if (!application) return undefined;
      const instances = [...application.instances.values()].sort((one, other) => compareCodePoints(one.id, other.id));
      return {
        ...copied(application.about),
        instances: instances.map((instance) => ({ ...instance })),
        flags: usage.flagsOf(name),
      };
    },
    usage: usage.read,
    timedUsage: timed.read,
    forget(flag) {
      usage.forget(flag);
      timed.forget(flag);
    },
    forgetSlice: () => false,
    dropTimedUsage: timed.drop,
    removeSlice(name) {
      remove(name);
      return false;
    },
    dropUnseenSince: (time, onDropped) => [
      visitInSlices(instancesOf(known), ([application, { id, seenAt }]) => {
        const instance = application.instances.get(id);
        if (seenAt < time && instance && application.instances.delete(id)) budget.take(-instanceSize(instance));
      }),
      visitInSlices(known.values(), ({ about: { name, seenAt } }) => {
        if (seenAt >= time) return;
        remove(name);
        onDropped(name);
      }),
    ],
  };
}

function* instancesOf(
  known: ReadonlyMap<string, KnownApplication>,
): Iterable<readonly [KnownApplication, StoredInstance]> {
  for (const application of known.values()) {
    for (const instance of application.instances.values()) yield [application, instance];
  }
}

function newApplication(name: string, at: number): KnownApplication {
  const about = { name, strategies: [], description: '', url: '', color: null, icon: '', createdAt: at, seenAt: at };
  return { about, instances: new Map() };
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

function copied(about: StoredApplication): StoredApplication {
  return { ...about, strategies: [...about.strategies] };
}

function applicationSize({ name, strategies, description, url, color, icon }: StoredApplication): number {
  const texts = name.length + description.length + url.length + icon.length + (color?.length ?? 0);
  return strategies.reduce((sum, strategy) => sum + strategy.length + 24, OBJECT + texts);
}

function instanceSize({ id, clientIp, sdkVersion }: StoredInstance): number {
  return OBJECT + id.length + clientIp.length + sdkVersion.length;
}
