import type { Definitions } from '@flags/core';
import type { DefinedStrategy } from '@flags/core/types';
import {
  convertFlags,
  type Importer,
  type ImportTarget,
  isObject,
  type Members,
  membersOf,
  NoEquivalent,
  type Report,
  switchOf,
  textsOf,
  toDefinitions,
  toWholePercentage,
  withoutBlanks,
} from './importer.js';

/** Converts an export of Flipper in JSON, version 1. */
export const flipper: Importer = { refuse, convert };

function refuse(document: unknown): string | undefined {
  const { version, features } = membersOf(document);
  if (!isObject(features))
    return 'This is not an export of Flipper: it has no member "features" with the flags by name';
  if (version !== 1) return 'This is not an export of Flipper in JSON: its "version" is not 1';
  const flags = Object.values(features);
  if (flags.length === 0 || flags.some(hasGates)) return undefined;
  return 'This is not an export of Flipper: none of its flags has gates, such as "boolean" and "actors"';
}

/** The gates of Flipper. An export has all of them. */
const GATES = ['boolean', 'actors', 'groups', 'percentage_of_actors', 'percentage_of_time'];

function hasGates(flag: unknown): boolean {
  return isObject(flag) && GATES.some((gate) => Object.hasOwn(flag, gate));
}

function convert(document: unknown, { environment }: ImportTarget, report: Report): Definitions {
  const flags = convertFlags(Object.entries(membersOf(membersOf(document).features)), report, (name, flag) => {
    if (!hasGates(flag)) throw new NoEquivalent('it has no gates, which Flipper requires');
    return { environments: switchOf(environment, toStrategies(name, membersOf(flag), report)) };
  });
  return toDefinitions({ flags });
}

/**
 * The gates of Flipper are alternatives, as strategies are: each adds people only, so one may be left out alone. A flag
 * of which nothing remains is left out.
 */
function toStrategies(name: string, gates: Members, report: Report): DefinedStrategy[] {
  const { boolean, percentage_of_actors: ofActors, percentage_of_time: ofTime, expression } = gates;
  const strategies: DefinedStrategy[] = [];
  const left: string[] = [];
  if (boolean === true || boolean === 'true') strategies.push({ name: 'default' });
  const actors = withoutBlanks(textsOf(gates.actors), name, report);
  if (actors.length > 0) {
    strategies.push({ name: 'default', constraints: [{ contextName: 'userId', operator: 'IN', values: actors }] });
    report.add(`${name}: give the actor's flipper_id (such as ${actors[0]}) as userId.`);
  }
  if (percentageOf(ofActors, name) > 0) {
    const parameters = { rollout: toWholePercentage(ofActors, name, report), stickiness: 'userId', groupId: name };
    strategies.push({ name: 'flexibleRollout', parameters });
    report.add(
      `${name}: ${parameters.rollout} % of actors differ from those in Flipper, because another hash chooses them.`,
    );
  }
  if (percentageOf(ofTime, name) > 0) {
    const percentage = toWholePercentage(ofTime, name, report);
    strategies.push({ name: 'gradualRolloutRandom', parameters: { percentage } });
  }
  for (const group of textsOf(gates.groups)) {
    left.push(`the group ${group} is defined in code, and is left out. Create a segment with its condition`);
  }
  if (expression !== null && expression !== undefined) left.push('the expression is left out. Write it as constraints');
  if (left.length > 0 && strategies.length === 0) throw new NoEquivalent(left.join('; '));
  for (const sentence of left) report.add(`${name}: ${sentence}.`);
  return strategies;
}

/** Returns 0 without a percentage. */
function percentageOf(value: unknown, flag: string): number {
  const percentage = value === null || value === undefined || value === '' ? 0 : Number(value);
  if (percentage >= 0 && percentage <= 100) return percentage;
  throw new NoEquivalent(`${value} is not a percentage of ${flag}`);
}
