import { setTimeout } from 'node:timers/promises';
import type { FlagQuery, Flags, PageQuery } from '@flags/core';
import { median } from '../median.js';
import { type Population, placeAt, populate, projectAt } from '../population.js';

/** A place of stored flags, which can be opened repeatedly. */
export interface Place {
  open(): Promise<Flags>;
  /** Bytes of the file; undefined when there is none. */
  size(): number | undefined;
}

/** Returns an empty place; each number names another one. */
export type OpenPlace = (number: number) => Place;

const OPENINGS = 5;
const CALLS = 1_000;
const LISTS = 15;

/** Lists across projects. */
const A_PAGE: PageQuery = { limit: 100 };
const SEARCHES: readonly (readonly [string, FlagQuery, PageQuery?])[] = [
  ['find flags of all projects by text, a page', { query: 'flag-7' }, A_PAGE],
  ['by text that no flag has', { query: 'nothing like it' }, A_PAGE],
  ['by label, a page', { label: 'team-3' }, A_PAGE],
  ['by environment, a page, newest first', { enabledIn: 'production', sort: '-createdAt' }, A_PAGE],
  ['by type, a page, last seen first', { type: 'release', sort: '-lastSeenAt' }, A_PAGE],
  ['list the flags of all projects', {}],
];

/** By the name of the measurement: microseconds of one call (medians), milliseconds if named so, bytes. */
export type Figures = ReadonlyMap<string, number>;

/** Fills a place and measures the cost of operations with that many flags. */
export async function figuresOf(place: Place, population: Population): Promise<Figures> {
  const filling = await place.open();
  await populate(filling, population);
  await filling.close();
  const figures = new Map<string, number>();
  for (const [name, figure] of await openingsOf(place)) figures.set(name, figure);
  const before = await heap();
  const flags = await place.open();
  figures.set('heap of an open instance, bytes per flag', ((await heap()) - before) / population.flags);
  for (const [name, figure] of await callsOn(flags, population)) figures.set(name, figure);
  const size = place.size();
  if (size !== undefined) figures.set('file, bytes per flag', size / population.flags);
  await flags.close();
  return figures;
}

/** The processor time includes all threads, also those that collect garbage. */
async function openingsOf(place: Place): Promise<Figures> {
  const times: number[] = [];
  const processor: number[] = [];
  for (let opening = 0; opening < OPENINGS; opening++) {
    const before = process.cpuUsage();
    const started = performance.now();
    const flags = await place.open();
    times.push(performance.now() - started);
    const { user, system } = process.cpuUsage(before);
    processor.push((user + system) / 1000);
    await flags.close();
  }
  return new Map([
    ['opening, ms', median(times)],
    ['opening, ms of processor time', median(processor)],
  ]);
}

async function callsOn(flags: Flags, { flags: count, projects }: Population): Promise<Figures> {
  const at = (call: number) => placeAt((call * 7919) % count, projects);
  const isOn = (call: number) => Math.floor(call / count) % 2 === 1;
  const toggle = (call: number) => (isOn(call) ? flags.enable(at(call)) : flags.disable(at(call)));
  const listed = { project: projectAt(0) };
  const figures = new Map<string, number>();
  figures.set('create a flag', await medianOf(CALLS, (call) => create(flags, call, projects)));
  figures.set('read a flag', await medianOf(CALLS, (call) => flags.getFlag(at(call))));
  figures.set('switch a flag on or off', await medianOf(CALLS, toggle));
  figures.set(
    'evaluate a flag',
    await medianOf(CALLS, (call) => flags.isEnabled(at(call).flag, { userId: `${call}` })),
  );
  figures.set(
    'list the flags of a project, per flag',
    (await medianOf(LISTS, () => flags.listFlags(listed))) / (await flags.listFlags(listed)).items.length,
  );
  for (const [name, query, page] of SEARCHES) {
    figures.set(`${name}, ms`, (await medianOf(LISTS, () => flags.listFlags(query, page))) / 1000);
  }
  figures.set('list the projects, ms', (await medianOf(LISTS, () => flags.listProjects())) / 1000);
  figures.set('`configuration()` after a change', await afterChanges(flags, toggle));
  return figures;
}

/** The document that clients poll is generated again after a change. */
async function afterChanges(flags: Flags, change: (call: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < LISTS * 4; call++) {
    await change(CALLS + call);
    times.push(await timeOf(() => flags.configuration({ environment: 'production' })));
  }
  return median(times);
}

function create(flags: Flags, call: number, projects: number): Promise<unknown> {
  return flags.createFlag({ project: projectAt(call % projects) }, { name: `created-${call}` });
}

async function medianOf(calls: number, work: (call: number) => unknown): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < calls; call++) times.push(await timeOf(() => work(call)));
  return median(times);
}

async function timeOf(work: () => unknown): Promise<number> {
  const started = performance.now();
  const result = work();
  if (result instanceof Promise) await result;
  return (performance.now() - started) * 1000;
}

/** Bytes in use, when nothing is left to collect. Closed drivers release theirs some turns of the event loop later. */
async function heap(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('Run node with --expose-gc.');
  for (let round = 0; round < 3; round++) {
    globalThis.gc();
    await setTimeout(50);
  }
  return process.memoryUsage().heapUsed;
}
