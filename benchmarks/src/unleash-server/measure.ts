import type { Round } from '../http/load.js';
import { median } from '../rounds.js';
import { compare, type Pace, type Side, sendRequests } from './compare.js';
import type { Contender, Installation } from './contender.js';
import { authorized, createClientToken, fill, get } from './content.js';
import { type Memory, type RunningServer, startProgram } from './program.js';
import { SCENARIOS, type Scenario } from './scenarios.js';

/** What it takes to have a server. */
export interface Costs extends Installation {
  readonly contender: Contender;
  /** Milliseconds from the first start, on an empty database, to the first answer. */
  readonly firstStart: number;
  /** Milliseconds from a later start, with 1,000 flags, to the first answer to an SDK. */
  readonly start: number;
  /** Bytes, after that answer. A collection of garbage would change what follows. */
  readonly memoryAtStart: number;
  /** After the comparison, in which a faster server answers more requests. */
  readonly memoryAfterLoad: Memory;
}

export interface Compared {
  readonly scenario: Scenario;
  /** Those of each server, in the order of the servers. */
  readonly rounds: readonly (readonly Round[])[];
}

export interface Measured {
  readonly costs: readonly Costs[];
  /** The memory of each server after the same load. */
  readonly memories: readonly Memory[];
  readonly compared: readonly Compared[];
}

/** One server from its first start on. */
interface Entrant extends Entry {
  server: RunningServer;
  readonly client: string;
  readonly firstStart: number;
}

export interface Entry {
  readonly contender: Contender;
  readonly installation: Installation;
}

type Started = Pick<Costs, 'start' | 'memoryAtStart'>;

const SMALL = 100;
const LARGE = 1000;
const STARTS = 3;
/** The number of requests of each kind before the memory is read. Conditional requests are left out. */
export const REQUESTS_OF_EACH_KIND = 2000;

export async function measure(entries: readonly Entry[], pace: Pace): Promise<Omit<Measured, 'memories'>> {
  const entrants: Entrant[] = [];
  try {
    for (const entry of entries) entrants.push(await enter(entry));
    await fillAll(entrants, 0, SMALL);
    const small = await compareAll(entrants, SMALL, pace);
    await fillAll(entrants, SMALL, LARGE);
    const starts = await restartAll(entrants);
    const large = await compareAll(entrants, LARGE, pace);
    return {
      costs: await Promise.all(entrants.map((one, at) => costs(one, starts[at]))),
      compared: [...small, ...large],
    };
  } finally {
    for (const { server } of entrants) await server.stop();
  }
}

/** Starts the servers one after the other, and returns the memory of each after the same requests. */
export async function measureMemory(entries: readonly Entry[]): Promise<readonly Memory[]> {
  const memories: Memory[] = [];
  for (const entry of entries) {
    const entrant = await enter(entry);
    try {
      await fillAll([entrant], 0, LARGE);
      for (const scenario of SCENARIOS.filter(({ flags, conditional }) => flags === LARGE && !conditional)) {
        await sendRequests(sideOf(entrant), scenario, REQUESTS_OF_EACH_KIND);
      }
      const memory = await entrant.server.memory();
      console.error(entry.contender.name, Math.round(memory.resident / 1e6), Math.round(memory.live / 1e6), 'MB');
      memories.push(memory);
    } finally {
      await entrant.server.stop();
    }
  }
  return memories;
}

async function enter(entry: Entry): Promise<Entrant> {
  const { contender } = entry;
  const { adminToken } = contender;
  const server = await startProgram(contender, authorized(get('/api/admin/projects/default'), adminToken));
  console.error(contender.name, 'first start', Math.round(server.startup), 'ms');
  const client = await createClientToken({ origin: server.origin, adminToken });
  return { ...entry, server, client, firstStart: server.startup };
}

async function fillAll(entrants: readonly Entrant[], from: number, to: number): Promise<void> {
  for (const { contender, server } of entrants) {
    const began = performance.now();
    await fill({ origin: server.origin, adminToken: contender.adminToken }, from, to);
    console.error(contender.name, 'has', to, 'flags after', Math.round(performance.now() - began), 'ms');
  }
}

async function compareAll(entrants: readonly Entrant[], flags: number, pace: Pace): Promise<Compared[]> {
  const sides = entrants.map(sideOf);
  const compared: Compared[] = [];
  for (const scenario of SCENARIOS.filter((one) => one.flags === flags)) {
    const rounds = await compare(sides, scenario, pace);
    const figures = rounds.map((one) => Math.round(median(one.map(({ requestsPerSecond }) => requestsPerSecond))));
    console.error(scenario.name, ...figures);
    compared.push({ scenario, rounds });
  }
  return compared;
}

function sideOf({ server, contender, client }: Entrant): Side {
  return { server, admin: contender.adminToken, client };
}

/** In turns. */
async function restartAll(entrants: readonly Entrant[]): Promise<readonly Started[]> {
  const starts = entrants.map((): Started[] => []);
  for (let turn = 0; turn < STARTS; turn++) {
    for (const [at, entrant] of entrants.entries()) starts[at]?.push(await restart(entrant));
  }
  return starts.map((each) => ({
    start: median(each.map(({ start }) => start)),
    memoryAtStart: median(each.map(({ memoryAtStart }) => memoryAtStart)),
  }));
}

async function restart(entrant: Entrant): Promise<Started> {
  await entrant.server.stop();
  entrant.server = await startProgram(entrant.contender, authorized(get('/api/client/features'), entrant.client));
  return { start: entrant.server.startup, memoryAtStart: await entrant.server.residentMemory() };
}

async function costs(
  { contender, installation, server, firstStart }: Entrant,
  { start, memoryAtStart }: Started = { start: Number.NaN, memoryAtStart: Number.NaN },
): Promise<Costs> {
  const memoryAfterLoad = await server.memory();
  return { contender, ...installation, firstStart, start, memoryAtStart, memoryAfterLoad };
}
