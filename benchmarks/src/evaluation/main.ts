import { readFile } from 'node:fs/promises';
import { table } from '../markdown.js';
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

/**
 * Prints nanoseconds (median) and bytes of one call, per scenario and engine, and the cost of a preview. An argument: the
 * only engine to measure beside the code by hand.
 */
async function main(): Promise<void> {
  const only = process.argv[2];
  const [flags, byHand] = [await flagsEngine(), byHandEngine()];
  assertSameAnswers(flags, byHand);
  const engines = [flags, byHand, await unleashClientEngine(), flagdCoreEngine(), growthBookEngine()];
  const nothing = await nanosecondsPerCall((call) => at(users, call));
  const measured = new Map<Engine, Figures>();
  for (const engine of engines) {
    if (only === undefined || engine === byHand || engine.name === only) measured.set(engine, await figuresOf(engine));
    engine.close();
  }
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

async function figuresOf(engine: Engine): Promise<Figures> {
  // Calls everything first, so that no scenario profits from running first.
  for (let call = 0; call < 200_000; call++) {
    for (const scenario of SCENARIOS) if (scenario !== 'list of 10,000 ids') engine.calls[scenario](call);
  }
  const figures = new Map<Scenario, Figure>();
  for (const scenario of SCENARIOS) {
    console.error(`${engine.name}: ${scenario}`);
    const call = engine.calls[scenario];
    figures.set(scenario, { ns: await nanosecondsPerCall(call), bytes: Math.max(0, bytesPerCall(call)) });
  }
  return figures;
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
