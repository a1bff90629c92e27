import { compareCodePoints } from '../../base/collections.js';
import { LIMITS } from '../../base/limits.js';
import type { Applications, Sighting } from '../metrics-composition.js';
import type {
  ApplicationRegistration,
  InstanceSighting,
  Reporter,
  StoredApplication,
  StoredInstance,
} from '../metrics-port.js';
import { applicationLimit, ownerOf } from '../reporters.js';
import { visitInSlices } from '../slices.js';
import { memoryTimedUsage } from './timed-usage.js';
import { createMemoryBudget, createMemoryUsage } from './usage.js';

interface KnownApplication {
  about: StoredApplication;
  owner: Reporter | undefined;
  readonly instances: Map<string, StoredInstance>;
}

/** Estimated size of an object without its texts, in bytes. */
const OBJECT = 200;

/** Bytes that applications of public reporters leave to others: more than one call adds. */
const RESERVE = 2 * 1024 * 1024;

/** Adds nothing that would exceed `LIMITS.applicationsInMemory`. Known applications are still updated. */
export function memoryApplications(): Applications {
  const known = new Map<string, KnownApplication>();
  /** Numbers of applications by the token of their owner. */
  const ownedBy = new Map<string | undefined, number>();
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

  function admit({ application: name, at, reporter }: Sighting): boolean {
    const before = known.get(name);
    if (before) own(before, ownerOf(before.owner, reporter));
    if (before) return true;
    const application = newApplication(name, at);
    const size = applicationSize(application.about);
    if (known.size >= LIMITS.applications || !hasRoomFor(reporter) || !budget.hasRoom(size)) return false;
    budget.take(size);
    known.set(name, application);
    own(application, reporter);
    return true;
  }

  function hasRoomFor(reporter: Reporter | undefined): boolean {
    return (ownedBy.get(reporter?.token) ?? 0) < applicationLimit(reporter);
  }

  function own(application: KnownApplication, owner: Reporter | undefined): void {
    count(application.owner, -1);
    count(owner, 1);
    application.owner = owner;
  }

  function count(owner: Reporter | undefined, added: number): void {
    if (owner === undefined) return;
    const owned = (ownedBy.get(owner.token) ?? 0) + added;
    if (owned > 0) ownedBy.set(owner.token, owned);
    else ownedBy.delete(owner.token);
  }

  function remove(name: string): void {
    const application = known.get(name);
    if (!application) return;
    budget.take(-applicationSize(application.about));
    for (const instance of application.instances.values()) budget.take(-instanceSize(instance));
    usage.removeApplication(name);
    own(application, undefined);
    known.delete(name);
  }

  return {
    admit(sightings) {
      const admitted = new Set<string>();
      for (const sighting of sightings) if (admit(sighting)) admitted.add(sighting.application);
      return admitted;
    },
    displaced(sightings) {
      const others = sightings.filter(({ reporter }) => !reporter?.isPublic);
      if (others.length === 0) return undefined;
      const waiting = others.filter(({ application, reporter }) => !known.has(application) && hasRoomFor(reporter));
      const isFull = waiting.length > 0 && known.size + waiting.length > LIMITS.applications;
      if (!isFull && budget.hasRoom(RESERVE)) return undefined;
      const named = new Set(sightings.map(({ application }) => application));
      let oldest: StoredApplication | undefined;
      for (const { about, owner } of known.values()) {
        if (!owner?.isPublic || named.has(about.name)) continue;
        if (oldest === undefined || about.seenAt < oldest.seenAt) oldest = about;
      }
      return oldest?.name;
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
  return { about, owner: undefined, instances: new Map() };
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
