import { flagdCoreEngine } from './engines/flagd-core.js';
import { flagsEngine } from './engines/flags.js';
import { growthBookEngine } from './engines/growthbook.js';
import { unleashClientEngine } from './engines/unleash-client.js';
import { bytesPerCall, nanosecondsPerCall } from './measure.js';
import { at, type Engine, SCENARIOS, users } from './scenarios.js';

/** Prints nanoseconds (median) and bytes of one call, per scenario and engine. */
async function main(): Promise<void> {
  const only = process.argv[2];
  const engines = [await flagsEngine(), await unleashClientEngine(), flagdCoreEngine(), growthBookEngine()];
  const nothing = await nanosecondsPerCall((call) => at(users, call));
  console.log(`Picking the user of a call, which every figure includes: ${nothing.toFixed(1)} ns`);
  for (const engine of engines) {
    if (only === undefined || engine.name === only) console.table(await figuresOf(engine));
    engine.close();
  }
}

async function figuresOf(engine: Engine): Promise<Record<string, object>> {
  // Everything is called first: no scenario may profit from code that has seen nothing else.
  for (let call = 0; call < 200_000; call++) for (const scenario of SCENARIOS.slice(0, 5)) engine.calls[scenario](call);
  const figures: Record<string, object> = {};
  for (const scenario of SCENARIOS) {
    const call = engine.calls[scenario];
    const ns = await nanosecondsPerCall(call);
    const bytes = Math.max(0, Number(bytesPerCall(call).toFixed(2)));
    figures[`${engine.name}: ${scenario}`] = { 'ns per call': Number(ns.toFixed(1)), 'bytes per call': bytes };
  }
  return figures;
}

await main();
