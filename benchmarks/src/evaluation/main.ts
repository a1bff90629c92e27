import { readFile } from 'node:fs/promises';
import { table } from '../markdown.js';
import { median } from '../median.js';
import { bytesPerCall, nanosecondsPerCall } from './call-cost.js';
import { byHandEngine } from './engines/by-hand.js';
import { flagdCoreEngine } from './engines/flagd-core.js';
import { flagsEngine } from './engines/flags.js';
import { growthBookEngine } from './engines/growthbook.js';
import { unleashClientEngine } from './engines/unleash-client.js';
import { previewTable } from './preview.js';
import { at, type Engine, SCENARIOS, type Scenario, users } from './scenarios.js';

interface Figure {
  readonly ns: number;
  readonly bytes: number;
}

type Figures = ReadonlyMap<Scenario, Figure>;

const ROUNDS = 3;

/**
 * Prints nanoseconds (median) and bytes of one call, per scenario and engine, and the cost of a preview. An argument: the
 * only engine to measure beside the code by hand.
 */
async function main(): Promise<void> {
  const only = process.argv[2];
  const [flags, byHand] = [await flagsEngine(), byHandEngine()];
  assertSameAnswers(flags, byHand);
  const peers = [await unleashClientEngine(), flagdCoreEngine(), growthBookEngine()];
  const engines = [flags, byHand, ...peers].filter(
    ({ name }) => only === undefined || name === only || name === 'by hand',
  );
  const nothing = await nanosecondsPerCall((call) => at(users, call));
  const measured = await measure(engines);
  for (const engine of [flags, byHand, ...peers]) engine.close();
  console.log(`
# Evaluation, beside code by hand and engines that evaluate in process

${await callTable(measured, byHand)}

Every figure includes ${nothing.toFixed(1)} ns for choosing the user of the call.

## Preview of one changed flag for 1,000 contexts

${await previewTable()}
`);
}

/** Compares the users that are on. The answers of `variant` differ in members beside the name. */
function assertSameAnswers(flags: Engine, byHand: Engine): void {
  const nameOf = (answer: unknown) => (typeof answer === 'object' && answer && 'name' in answer ? answer.name : answer);
  for (const scenario of SCENARIOS) {
    for (const call of users.keys()) {
      if (nameOf(flags.calls[scenario](call)) === nameOf(byHand.calls[scenario](call))) continue;
      throw new Error(`${scenario}: the code by hand answers otherwise for user ${call}.`);
    }
  }
}

/** The second column is the time of the first engine, divided by that of the code by hand. */
async function callTable(measured: ReadonlyMap<Engine, Figures>, byHand: Engine): Promise<string> {
  const titles = await Promise.all([...measured.keys()].map(titleOf));
  const [first] = measured.values();
  const rows = SCENARIOS.map((scenario) => {
    const cells = [...measured.values()].map((figures) => shown(figures.get(scenario)));
    const ratio = (first?.get(scenario)?.ns ?? 0) / (measured.get(byHand)?.get(scenario)?.ns ?? 0);
    return [scenario, ratio.toFixed(1), ...cells];
  });
  return table(['ns per call (bytes)', `${titles[0]} / by hand`, ...titles], rows);
}

/** Measures the engines in turn, so that a slower minute of the machine slows all of them. */
async function measure(engines: readonly Engine[]): Promise<ReadonlyMap<Engine, Figures>> {
  // Calls everything first, so that no scenario profits from running first.
  for (const engine of engines) warmUp(engine);
  const measured = new Map(engines.map((engine) => [engine, new Map<Scenario, Figure>()]));
  for (const scenario of SCENARIOS) {
    console.error(scenario);
    const times = new Map(engines.map((engine) => [engine, [] as number[]]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const engine of engines) times.get(engine)?.push(await nanosecondsPerCall(engine.calls[scenario]));
    }
    for (const engine of engines) {
      const bytes = Math.max(0, bytesPerCall(engine.calls[scenario]));
      measured.get(engine)?.set(scenario, { ns: median(times.get(engine) ?? []), bytes });
    }
  }
  return measured;
}

function warmUp({ calls }: Engine): void {
  for (let call = 0; call < 200_000; call++) {
    for (const scenario of SCENARIOS) if (scenario !== 'list of 10,000 ids') calls[scenario](call);
  }
}

function shown(figure: Figure | undefined): string {
  return figure ? `${whole(figure.ns)} (${whole(figure.bytes)})` : '';
}

function whole(figure: number): string {
  return Math.round(figure).toLocaleString('en');
}

/** The versions are those that are installed. */
async function titleOf({ name, dependency = '' }: Engine): Promise<string> {
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  const { devDependencies } = JSON.parse(manifest) as { devDependencies: Record<string, string> };
  const version = devDependencies[dependency] ?? '';
  return /^\d/.test(version) ? `${name} ${version}` : name;
}

await main();
