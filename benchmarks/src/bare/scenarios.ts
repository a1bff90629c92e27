import { SCENARIOS, type Scenario } from '../builds/scenarios.js';

const NAMES = [
  'one flag, 1,000 in turn',
  'list, 100 flags',
  'list, 1,000 flags',
  'client features, 100 flags',
  'client features, 1,000 flags',
  'create flag',
  'on and off',
  'add strategy',
  'set variants',
  'report of 10 flags',
];

export const COMPARED: readonly Scenario[] = NAMES.map(scenarioNamed);

export function scenarioNamed(name: string): Scenario {
  const scenario = SCENARIOS.find((one) => one.name === name);
  if (!scenario) throw new Error(`No scenario ${name}.`);
  return scenario;
}
