import type { DefinedFlag, DefinedStrategy, VariantInput } from '@flags/core';
import { distributionOf, toRules } from './flagd-targeting.js';
import {
  type Imported,
  type ImportTarget,
  type Members,
  membersOf,
  Report,
  textOf,
  toDefinitions,
  toName,
} from './importer.js';

/** Converts flag definitions of flagd. Evaluators are put in where targeting refers to them. */
export function importFlagd(document: unknown, { environment }: ImportTarget): Imported {
  const { flags: given, $evaluators } = membersOf(document);
  const report = new Report();
  const entries = Array.isArray(given)
    ? given.map((flag) => [textOf(membersOf(flag).key) ?? '', flag] as const)
    : Object.entries(membersOf(given));
  const flags = entries.map(([key, value]): DefinedFlag => {
    const name = toName(key, report);
    const flag = { ...membersOf(value), targeting: resolve(membersOf(value).targeting, membersOf($evaluators)) };
    const { variants, strategies } = isSwitch(flag) ? toSwitch(name, flag, report) : toVariantFlag(name, flag, report);
    const description = textOf(membersOf(membersOf(value).metadata).description);
    const isOn = membersOf(value).state === 'ENABLED';
    return {
      name,
      ...(description !== undefined && { description }),
      ...(variants.length > 0 && { variants }),
      environments: { [environment]: { enabled: isOn && strategies.length > 0, strategies } },
    };
  });
  return { definitions: toDefinitions({ flags }), report: report.sentences };
}

/** Replaces `{ "$ref": name }` by the evaluator of this name. */
function resolve(rule: unknown, evaluators: Members, depth = 0): unknown {
  if (depth > 20 || typeof rule !== 'object' || rule === null) return rule;
  if (Array.isArray(rule)) return rule.map((one) => resolve(one, evaluators, depth + 1));
  const { $ref } = rule as Members;
  if (typeof $ref === 'string') return resolve(evaluators[$ref], evaluators, depth + 1);
  return Object.fromEntries(Object.entries(rule).map(([name, one]) => [name, resolve(one, evaluators, depth + 1)]));
}

interface Converted {
  readonly variants: readonly VariantInput[];
  readonly strategies: readonly DefinedStrategy[];
}

type Flag = Members & { readonly targeting: unknown };

function isSwitch({ variants }: Flag): boolean {
  return Object.values(membersOf(variants)).every((value) => typeof value === 'boolean');
}

const EVERYBODY: DefinedStrategy = { name: 'default' };

/** The flag is on for contexts whose variant is true. */
function toSwitch(name: string, { variants, defaultVariant, targeting }: Flag, report: Report): Converted {
  const values = membersOf(variants);
  const isTrue = (variant: unknown) => values[`${variant}`] === true;
  const isOnByDefault = isTrue(defaultVariant);
  const otherwise = isOnByDefault ? [EVERYBODY] : [];
  if (targeting === undefined || isEmpty(targeting)) return { variants: [], strategies: otherwise };
  const distribution = distributionOf(targeting);
  if (distribution) {
    const share = distribution.weights
      .filter(([variant]) => isTrue(variant))
      .reduce((sum, [, weight]) => sum + weight, 0);
    report.add(`${name}: other users are in the share of ${share / 10} %, because another hash chooses them.`);
    const parameters = { rollout: `${Math.round(share / 10)}`, stickiness: distribution.stickiness, groupId: name };
    return { variants: [], strategies: [{ name: 'flexibleRollout', parameters }] };
  }
  const rules = toRules(targeting);
  const last = rules?.otherwise === undefined ? isOnByDefault : isTrue(rules.otherwise);
  const all = rules?.rules ?? [];
  // Strategies switch on only, so no rule may switch off what a later one switches on.
  const isExpressible = rules !== undefined && all.every(({ variant }) => isTrue(variant)) && !last;
  if (isExpressible)
    return { variants: [], strategies: all.map(({ constraints }) => ({ name: 'default', constraints })) };
  const [only] = all;
  const [condition] = only?.constraints ?? [];
  if (
    rules &&
    only &&
    condition &&
    all.length === 1 &&
    only.constraints.length === 1 &&
    !isTrue(only.variant) &&
    last
  ) {
    const constraints = [{ ...condition, inverted: condition.inverted !== true }];
    return { variants: [], strategies: [{ name: 'default', constraints }] };
  }
  report.add(`${name}: its targeting has no equivalent. The flag is imported off: write its rules as strategies.`);
  return { variants: [], strategies: [] };
}

function isEmpty(targeting: unknown): boolean {
  return targeting === null || Object.keys(membersOf(targeting)).length === 0;
}

function toVariantFlag(name: string, { variants, defaultVariant, targeting }: Flag, report: Report): Converted {
  const values = Object.entries(membersOf(variants));
  const toVariants = (weightOf: (variant: string) => number): VariantInput[] => {
    const weighted = values.map(([variant, value]) => ({ variant, value, weight: weightOf(variant) }));
    const heaviest = Math.max(...weighted.map(({ weight }) => weight));
    const variable = weighted.findIndex(({ weight }) => weight === heaviest);
    return weighted.map(({ variant, value, weight }, index) => ({
      name: toName(variant, report),
      ...(index === variable ? { weightType: 'variable' as const } : { weightType: 'fix' as const, weight }),
      payload: toPayload(value),
    }));
  };
  const all = toVariants((variant) => (variant === `${defaultVariant}` ? 1000 : 0));
  if (targeting === undefined || isEmpty(targeting)) return { variants: all, strategies: [EVERYBODY] };
  const distribution = distributionOf(targeting);
  if (distribution) {
    const weights = new Map(distribution.weights);
    report.add(`${name}: users may get other variants than before, because another hash chooses them.`);
    const spread = toVariants((variant) => weights.get(variant) ?? 0);
    return {
      variants: spread.map((one) => ({ ...one, stickiness: distribution.stickiness })),
      strategies: [EVERYBODY],
    };
  }
  const rules = toRules(targeting);
  const payloads = new Map(all.map((variant) => [variant.name, variant.payload]));
  const isKnown = (variant: unknown) => payloads.has(`${variant}`);
  if (!rules?.rules.every(({ variant }) => isKnown(variant))) {
    report.add(`${name}: its targeting has no equivalent. The flag is imported off: write its rules as strategies.`);
    return { variants: all, strategies: [] };
  }
  const fixed = (variant: string) => {
    const payload = payloads.get(variant);
    const one = { name: variant, weightType: 'variable' as const, weight: 1000, stickiness: 'default' };
    return [{ ...one, ...(payload && { payload }) }];
  };
  const strategies = rules.rules.map(({ constraints, variant }): DefinedStrategy => {
    return { name: 'default', constraints, variants: fixed(`${variant}`) };
  });
  const rest = isKnown(rules.otherwise) ? { name: 'default', variants: fixed(`${rules.otherwise}`) } : EVERYBODY;
  return { variants: all, strategies: [...strategies, rest] };
}

function toPayload(value: unknown): NonNullable<VariantInput['payload']> {
  if (typeof value === 'string') return { type: 'string', value };
  if (typeof value === 'number') return { type: 'number', value: `${value}` };
  return { type: 'json', value: JSON.stringify(value) };
}
