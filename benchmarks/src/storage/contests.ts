import type { Flags, StrategyInput } from '@flags/core';
import type { Contest } from '../rounds.js';
import type { BareFlags } from './bare-flags.js';
import type { openBareMetrics } from './bare-metrics.js';

const FLAGS = 1_000;
const PROJECTS = 50;
const AT_ONCE = 500;

const strategy = {
  name: 'flexibleRollout',
  parameters: { rollout: '50', stickiness: 'default', groupId: 'checkout' },
  constraints: [{ contextName: 'country', operator: 'IN' as const, values: ['no', 'se', 'dk'] }],
} satisfies StrategyInput;

const variantsOf = (first: number) =>
  [first, 1000 - first].map((weight, at) => ({
    name: `variant-${at}`,
    weight,
    weightType: at === 0 ? ('fix' as const) : ('variable' as const),
    stickiness: 'default',
    payload: { type: 'string' as const, value: `value ${at}` },
    overrides: [],
  }));

const flagNames = Array.from({ length: FLAGS }, (_, at) => `team-${at % 17}.flag-${at}`);

export interface Sides {
  readonly flags: Flags;
  readonly bare: BareFlags;
  readonly metrics: ReturnType<typeof openBareMetrics>;
}

/** 1,000 flags in the project `default`, on in production, and 50 projects. */
export async function fill(flags: Flags): Promise<void> {
  await Promise.all(flagNames.map((name) => flags.createFlag({ project: 'default' }, { name })));
  await Promise.all(flagNames.map((flag) => flags.addStrategy(production(flag), strategy)));
  await Promise.all(flagNames.map((flag) => flags.enable(production(flag))));
  for (let at = 0; at < PROJECTS; at++) await flags.createProject({ id: projectOf(at), name: `Project ${at}` });
}

export function contests({ flags, bare, metrics }: Sides): readonly Contest[] {
  return [
    {
      name: 'read a flag',
      perRound: 1_000,
      core: (call) => flags.getFlag({ project: 'default', flag: nameOf(call) }),
      bare: (call) => bare.get(nameOf(call)),
    },
    {
      name: 'list 1,000 flags',
      perRound: 10,
      core: () => flags.listFlags({ project: 'default' }),
      bare: () => bare.list('default'),
    },
    {
      name: 'create a flag',
      perRound: 100,
      core: (call) => flags.createFlag({ project: projectOf(call) }, { name: `created-${call}` }),
      bare: (call) => bare.createAtOnce(projectOf(call), [`created-${call}`]),
    },
    {
      name: 'switch a flag on or off',
      perRound: 100,
      core: (call) => (isOn(call) ? flags.enable : flags.disable)(production(nameOf(call))),
      bare: (call) => bare.setEnabled(nameOf(call), isOn(call)),
    },
    {
      name: 'add a strategy',
      perRound: 100,
      core: (call) => flags.addStrategy(production(nameOf(call)), strategy),
      bare: (call) => bare.addStrategy(nameOf(call), strategy),
    },
    {
      name: 'set variants',
      perRound: 100,
      core: (call) => flags.setVariants({ project: 'default', flag: nameOf(call) }, variantsOf(1 + (call % 997))),
      bare: (call) => bare.setVariants(nameOf(call), variantsOf(1 + (call % 997))),
    },
    {
      name: 'add a member to a project',
      perRound: 100,
      core: (call) => flags.addMember({ project: projectOf(call) }, memberOf(call)),
      bare: (call) => bare.addMember(projectOf(call), memberOf(call)),
    },
    {
      name: `create ${AT_ONCE} flags at once, each`,
      perRound: 1,
      perCall: AT_ONCE,
      core: (call) =>
        Promise.all(namesAtOnce(call).map((name) => flags.createFlag({ project: projectOf(call) }, { name }))),
      bare: (call) => bare.createAtOnce(projectOf(call), namesAtOnce(call)),
    },
    {
      name: 'report the metrics of 10 flags',
      perRound: 100,
      core: (call) => flags.reportMetrics(reportOf(call)),
      bare: (call) => metrics.record({ application: 'shop', instance: 'shop-1', counts: countsOf(call) }),
    },
  ];
}

function nameOf(call: number): string {
  return flagNames[(call * 7919) % FLAGS] ?? '';
}

/** Whenever the round through all flags begins anew it is the other way. All are on at first. */
function isOn(call: number): boolean {
  return Math.floor(call / FLAGS) % 2 === 1;
}

function projectOf(call: number): string {
  return `project-${call % PROJECTS}`;
}

function memberOf(call: number) {
  return { userId: 1 + Math.floor(call / PROJECTS), roleId: 5 };
}

function namesAtOnce(call: number): readonly string[] {
  return Array.from({ length: AT_ONCE }, (_, at) => `at-once-${call}-${at}`);
}

function countsOf(call: number) {
  return Array.from({ length: 10 }, (_, at) => ({ flag: nameOf(call + at), yes: 3, no: 1 }));
}

function reportOf(call: number) {
  const now = new Date().toISOString();
  const toggles = Object.fromEntries(countsOf(call).map(({ flag, yes, no }) => [flag, { yes, no, variants: {} }]));
  return { appName: 'shop', instanceId: 'shop-1', bucket: { start: now, stop: now, toggles } };
}

function production(flag: string) {
  return { project: 'default', flag, environment: 'production' };
}
