import { readFile } from 'node:fs/promises';
import { table } from '../markdown.js';
import { bytesPerCall, nanosecondsPerCall } from './call-cost.js';
import { flagdCoreEngine } from './engines/flagd-core.js';
import { flagsEngine } from './engines/flags.js';
import { growthBookEngine } from './engines/growthbook.js';
import { unleashClientEngine } from './engines/unleash-client.js';
import { previewTable } from './preview.js';
import { at, type Engine, SCENARIOS, type Scenario, users } from './scenarios.js';

type Figures = ReadonlyMap<Scenario, string>;

/** Prints nanoseconds (median) and bytes of one call, per scenario and engine, and the cost of a preview. */
async function main(): Promise<void> {
  const only = process.argv[2];
  const engines = [await flagsEngine(), await unleashClientEngine(), flagdCoreEngine(), growthBookEngine()];
  const nothing = await nanosecondsPerCall((call) => at(users, call));
  const measured = new Map<string, Figures>();
  for (const engine of engines) {
    if (only === undefined || engine.name === only) measured.set(await titleOf(engine), await figuresOf(engine));
    engine.close();
  }
  console.log(`
# Evaluation, beside engines that evaluate in process

${callTable(measured)}

Every figure includes ${nothing.toFixed(1)} ns for choosing the user of the call.

## Preview of one changed flag for 1,000 contexts

${await previewTable()}
`);
}

function callTable(measured: ReadonlyMap<string, Figures>): string {
  const rows = SCENARIOS.map((scenario) => [
    scenario,
    ...[...measured.values()].map((figures) => figures.get(scenario) ?? ''),
  ]);
  return table(['ns per call (bytes)', ...measured.keys()], rows);
}

async function figuresOf(engine: Engine): Promise<Figures> {
  // Calls everything first, so that no scenario profits from running first.
  for (let call = 0; call < 200_000; call++) for (const scenario of SCENARIOS.slice(0, 5)) engine.calls[scenario](call);
  const figures = new Map<Scenario, string>();
  for (const scenario of SCENARIOS) {
    console.error(`${engine.name}: ${scenario}`);
    const call = engine.calls[scenario];
    const ns = await nanosecondsPerCall(call);
    const bytes = Math.max(0, bytesPerCall(call));
    figures.set(scenario, `${whole(ns)} (${whole(bytes)})`);
  }
  return figures;
}

function whole(figure: number): string {
  return Math.round(figure).toLocaleString('en');
}

/** The versions are those that are installed. */
async function titleOf({ name, dependency }: Engine): Promise<string> {
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  const { devDependencies } = JSON.parse(manifest) as { devDependencies: Record<string, string> };
  const version = devDependencies[dependency] ?? '';
  return /^\d/.test(version) ? `${name} ${version}` : name;
}

await main();
