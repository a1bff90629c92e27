import type { DefinedFlag } from '@flags/core';
import type { DefinedStrategy } from '@flags/core/types';
import {
  type Imported,
  type ImportTarget,
  membersOf,
  Report,
  switchOf,
  textsOf,
  toDefinitions,
  toName,
} from './importer.js';

/** Converts an export of Flipper in JSON, version 1. */
export function importFlipper(document: unknown, { environment }: ImportTarget): Imported {
  const report = new Report();
  const flags = Object.entries(membersOf(membersOf(document).features)).map(([key, value]): DefinedFlag => {
    const name = toName(key, report);
    return { name, environments: switchOf(environment, toStrategies(name, membersOf(value), report)) };
  });
  return { definitions: toDefinitions({ flags }), report: report.sentences };
}

/** The gates of Flipper are alternatives, as strategies are. */
function toStrategies(name: string, gates: Readonly<Record<string, unknown>>, report: Report): DefinedStrategy[] {
  const { boolean, percentage_of_actors: ofActors, percentage_of_time: ofTime, expression } = gates;
  const strategies: DefinedStrategy[] = [];
  if (boolean === true || boolean === 'true') strategies.push({ name: 'default' });
  const actors = textsOf(gates.actors);
  if (actors.length > 0) {
    strategies.push({ name: 'default', constraints: [{ contextName: 'userId', operator: 'IN', values: actors }] });
    report.add(`${name}: give the actor's flipper_id (such as ${actors[0]}) as userId.`);
  }
  if (isPercentage(ofActors)) {
    const parameters = { rollout: `${ofActors}`, stickiness: 'userId', groupId: name };
    strategies.push({ name: 'flexibleRollout', parameters });
    report.add(`${name}: ${ofActors} % of actors differ from those in Flipper, because another hash chooses them.`);
  }
  if (isPercentage(ofTime)) strategies.push({ name: 'gradualRolloutRandom', parameters: { percentage: `${ofTime}` } });
  for (const group of textsOf(gates.groups)) {
    report.add(`${name}: the group ${group} is defined in code, and is left out. Create a segment with its condition.`);
  }
  if (expression !== null && expression !== undefined) {
    report.add(`${name}: the expression is left out. Write it as constraints.`);
  }
  return strategies;
}

function isPercentage(value: unknown): value is string | number {
  return (typeof value === 'string' || typeof value === 'number') && Number(value) > 0 && Number(value) <= 100;
}
