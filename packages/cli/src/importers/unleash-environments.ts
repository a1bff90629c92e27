import type { StrategyVariant, VariantInput } from '@flags/core';
import type { DefinedEnvironment, DefinedStrategy } from '@flags/core/types';
import {
  type ImportTarget,
  listOf,
  type Members,
  membersOf,
  NoEquivalent,
  type Report,
  textOf,
  textsOf,
  toWholePercentage,
  withoutBlanks,
} from './importer.js';
import { toConstraints } from './unleash-constraints.js';

interface Surroundings {
  readonly target: ImportTarget;
  readonly report: Report;
  /** The names of the segments in the document. */
  readonly known: ReadonlyMap<number, string>;
}

export interface ImportedEnvironments {
  readonly configured: Readonly<Record<string, DefinedEnvironment>>;
  readonly variants: readonly FlagVariant[];
}

/** Returns a function that configures the environments of a flag. */
export function createEnvironments(state: Members, { target, report, known }: Surroundings) {
  const strategies = groupBy(listOf(state.featureStrategies), ({ featureName }) => `${featureName}`);
  const switches = groupBy(listOf(state.featureEnvironments), ({ featureName }) => `${featureName}`);
  const links = groupBy(listOf(state.featureStrategySegments), ({ featureStrategyId }) => `${featureStrategyId}`);

  function toStrategy(flag: string, strategy: Members): DefinedStrategy {
    const name = textOf(strategy.strategyName) ?? `${strategy.name}`;
    if (!target.strategies.includes(name)) {
      report.add(`The strategy ${name} is custom: pass its code in the option \`strategies\`.`);
    }
    const { constraints, holds } = toConstraints(strategy.constraints, flag, report);
    if (!holds) report.add(`${flag}: a constraint of a strategy holds for nobody, so the strategy is disabled.`);
    const given = Array.isArray(strategy.segments) ? strategy.segments : (links.get(`${strategy.id}`) ?? []);
    const ids = given.map((one: unknown) => (typeof one === 'number' ? one : Number(membersOf(one).segmentId)));
    const segments = [...new Set(ids.flatMap((id) => known.get(id) ?? []))];
    if (ids.some((id) => !known.has(id))) throw new NoEquivalent('a segment of a strategy is not in the export');
    const variants = listOf(strategy.variants).map((variant) => toStrategyVariant(variant, flag, report));
    const [id, title] = [textOf(strategy.id), textOf(strategy.title)];
    const isDisabled = strategy.disabled === true || !holds;
    return {
      ...(id !== undefined && { id }),
      name,
      ...(title && { title }),
      parameters: toParameters(name, strategy.parameters, (value) => toWholePercentage(value, flag, report)),
      constraints: holds ? constraints : [],
      ...(segments.length > 0 && { segments }),
      ...(variants.length > 0 && { variants }),
      ...(typeof strategy.sortOrder === 'number' && { sortOrder: strategy.sortOrder }),
      ...(isDisabled && { disabled: true }),
    };
  }

  return (flag: string, feature: Members): ImportedEnvironments => {
    const environments = [...(switches.get(flag) ?? []), ...listOf(feature.environments)].flatMap(
      (one): readonly Environment[] => {
        const from = textOf(one.environment) ?? `${one.name}`;
        const environment = target.toEnvironment(from);
        if (environment !== undefined) {
          const variants = toVariants(listOf(one.variants), flag, report);
          return [{ from, environment, isOn: one.enabled === true, variants, own: listOf(one.strategies) }];
        }
        report.add(`The environment ${from} is not configured here, and is left out: --map-environment ${from}=NAME.`);
        return [];
      },
    );
    const shared = sharedVariants(toVariants(listOf(feature.variants), flag, report), environments);
    const configured: Record<string, DefinedEnvironment> = {};
    for (const { from, environment, isOn, variants, own } of environments) {
      const stored = strategies.get(flag) ?? [];
      const found = [
        ...stored.filter((strategy) => strategy.environment === undefined || strategy.environment === from),
        ...own,
      ];
      if (!shared && variants.some(({ overrides = [] }) => overrides.length > 0)) {
        throw new NoEquivalent('overrides of variants that differ between environments have no equivalent');
      }
      if (isOn && found.length === 0)
        report.add(`${flag}: is on in ${from} without a strategy, so it gets the strategy default.`);
      const wanted = isOn && found.length === 0 ? [{ name: 'default' }] : found;
      const all = wanted.map((strategy) => toStrategy(flag, strategy));
      if (state.version === undefined && all.length > 1 && all.some((one) => one.variants)) {
        report.add(`${flag}: the order of its strategies, which decides on the variant, is not in this export.`);
      }
      const isOwn = !shared && variants.length > 0;
      configured[environment] = {
        enabled: isOn,
        strategies: isOwn ? all.map((strategy) => withVariants(strategy, { flag, variants, report })) : all,
      };
    }
    return { configured, variants: shared ?? [] };
  };
}

interface Inherited {
  readonly flag: string;
  readonly variants: readonly FlagVariant[];
  readonly report: Report;
}

/** Gives a strategy the variants of its flag. They are then hashed with its group instead of the name of the flag. */
function withVariants(strategy: DefinedStrategy, { flag, variants, report }: Inherited): DefinedStrategy {
  if (strategy.variants) return strategy;
  const hasGroup = strategy.name.startsWith('gradualRollout');
  const groupId = strategy.parameters?.groupId || (hasGroup ? undefined : flag);
  if (groupId !== flag)
    report.add(`${flag}: users may get other variants, because the groupId of a strategy chooses them.`);
  return {
    ...strategy,
    parameters: { ...strategy.parameters, ...(groupId && { groupId }) },
    variants: variants.map(({ overrides: _overrides, ...variant }) => variant),
  };
}

/** An environment of a flag. */
interface Environment {
  readonly from: string;
  /** Its name in the store. */
  readonly environment: string;
  readonly isOn: boolean;
  readonly variants: readonly FlagVariant[];
  /** Strategies that the export stores in the environment. */
  readonly own: readonly Members[];
}

/** Returns the variants of the flag. Undefined: its environments have different variants. */
function sharedVariants(
  own: readonly FlagVariant[],
  environments: readonly Environment[],
): ImportedEnvironments['variants'] | undefined {
  if (own.length > 0) return own;
  // An environment where the flag is off often lacks the variants of the other environments.
  const lists = environments.filter(({ isOn, variants }) => isOn || variants.length > 0);
  const texts = new Set(lists.map(({ variants }) => JSON.stringify(variants)));
  return texts.size <= 1 ? (lists[0]?.variants ?? []) : undefined;
}

/** The parameters that are percentages. Unleash accepts every text. Its SDKs read one that is not a number as 0. */
const PERCENTAGES: Readonly<Record<string, string>> = {
  flexibleRollout: 'rollout',
  gradualRolloutUserId: 'percentage',
  gradualRolloutSessionId: 'percentage',
  gradualRolloutRandom: 'percentage',
};

function toParameters(
  strategy: string,
  given: unknown,
  toPercentage: (value: unknown) => string,
): Readonly<Record<string, string>> {
  const percentage = Object.hasOwn(PERCENTAGES, strategy) ? PERCENTAGES[strategy] : undefined;
  const entries = Object.entries(membersOf(given)).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, name === percentage ? toPercentage(value) : `${value}`]),
  );
}

function groupBy(items: readonly Members[], keyOf: (item: Members) => string): ReadonlyMap<string, Members[]> {
  const groups = new Map<string, Members[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** The sum of all weights. */
const TOTAL = 1000;

type FlagVariant = StrategyVariant & Required<Pick<VariantInput, 'overrides'>>;

/** Converts the variants of a flag. */
function toVariants(variants: readonly Members[], flag: string, report: Report): readonly FlagVariant[] {
  const converted = variants.map((variant) => {
    const overrides = listOf(variant.overrides).map(({ contextName, values }) => {
      return { contextName: `${contextName}`, values: withoutBlanks(textsOf(values), flag, report) };
    });
    return { ...toStrategyVariant(variant, flag, report), overrides };
  });
  return isDistributed(converted) ? converted : toFixedWeights(converted, flag, report);
}

/** Whether the store would compute these weights: variable variants share the rest evenly. */
function isDistributed(variants: readonly StrategyVariant[]): boolean {
  const variable = variants.filter(({ weightType }) => weightType === 'variable').map(({ weight }) => weight);
  const isEven = Math.max(...variable) - Math.min(...variable) <= 1;
  return (
    variants.length === 0 || (variable.length > 0 && !variable.includes(0) && isEven && totalOf(variants) === TOTAL)
  );
}

function totalOf(variants: readonly StrategyVariant[]): number {
  return variants.reduce((sum, { weight }) => sum + weight, 0);
}

/** Fixes all weights but the largest: the store requires a variable variant, and gives it the rest. */
function toFixedWeights(variants: readonly FlagVariant[], flag: string, report: Report): readonly FlagVariant[] {
  const total = totalOf(variants);
  if (total !== TOTAL) {
    report.add(`${flag}: the weights of its variants add up to ${total}, so users may get other variants.`);
  }
  const weights = variants.map(({ weight }) => Math.round((weight * TOTAL) / (total || 1)));
  const largest = weights.indexOf(Math.max(...weights));
  return variants.map((variant, index) => {
    return { ...variant, weight: weights[index] ?? 0, weightType: index === largest ? 'variable' : 'fix' };
  });
}

function toStrategyVariant(variant: Members, flag: string, report: Report): StrategyVariant {
  const payload = toPayload(variant.payload, flag, report);
  return {
    name: `${variant.name}`,
    weightType: variant.weightType === 'fix' ? 'fix' : 'variable',
    weight: Number(variant.weight ?? 0),
    stickiness: textOf(variant.stickiness) ?? 'default',
    ...(payload && { payload }),
  };
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Unleash accepts every text as a number. */
function toPayload(payload: unknown, flag: string, report: Report): VariantInput['payload'] {
  const { type, value } = membersOf(payload);
  if (type === undefined || value === undefined) return undefined;
  const text = `${value}`;
  if (type === 'string' || type === 'csv' || type === 'json') return { type, value: text };
  if (type === 'number' && NUMBER.test(text)) return { type, value: text };
  report.add(`${flag}: a payload is not a ${type}, and becomes a string.`);
  return { type: 'string', value: text };
}
