import { createFlags, type DefinedFlag, isFlagsError, memoryStorage, type VariantInput } from '@flags/core';
import type { DefinedStrategy } from '@flags/core/types';
import { distributionOf, mayGiveNull, toRules } from './flagd-targeting.js';
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

/** Converts flag definitions of flagd. Inlines the evaluators that targeting refers to. */
export async function importFlagd(document: unknown, { environment }: ImportTarget): Promise<Imported> {
  const { flags: given, $evaluators, metadata } = membersOf(document);
  const report = new Report();
  noteMetadata('the file', metadata, report);
  const entries = Array.isArray(given)
    ? given.map((flag) => [textOf(membersOf(flag).key) ?? '', flag] as const)
    : Object.entries(membersOf(given));
  const converted = entries.map(([key, value]) => {
    const name = toName(key, report);
    const flag: Flag = { ...membersOf(value), targeting: resolve(membersOf(value).targeting, membersOf($evaluators)) };
    const { description, ...metadata } = membersOf(flag.metadata);
    noteMetadata(name, metadata, report);
    const { variants, strategies } = isSwitch(flag) ? toSwitch(name, flag, report) : toVariantFlag(name, flag, report);
    const isDefaultFalse = `${flag.defaultVariant}` === 'false';
    if (strategies.length > 0 && mayGiveNull(flag.targeting) && !isDefaultFalse)
      report.add(`${name}: ${NULL_AS_FALSE}`);
    const isOn = flag.state === 'ENABLED' && strategies.length > 0;
    return toFlag({ name, description, variants, environment: { enabled: isOn, strategies } }, environment);
  });
  const flags = await withoutRefused(converted, environment, report);
  return { definitions: toDefinitions({ flags }), report: report.sentences };
}

function toFlag(
  { name, description, variants, environment: configuration }: Configured,
  environment: string,
): DefinedFlag {
  return {
    name,
    ...(typeof description === 'string' && { description }),
    ...(variants.length > 0 && { variants }),
    environments: { [environment]: configuration },
  };
}

interface Configured {
  readonly name: string;
  readonly description: unknown;
  readonly variants: readonly VariantInput[];
  readonly environment: { readonly enabled: boolean; readonly strategies: readonly DefinedStrategy[] };
}

function noteMetadata(name: string, metadata: unknown, report: Report): void {
  const members = Object.keys(membersOf(metadata));
  if (members.length > 0) report.add(`${name}: its metadata is not imported: ${members.join(', ')}.`);
}

/**
 * Disables flags that the engine would refuse, so that they do not stop the import. An engine in memory checks them,
 * because the engine owns the rules.
 */
async function withoutRefused(
  flags: readonly DefinedFlag[],
  environment: string,
  report: Report,
): Promise<readonly DefinedFlag[]> {
  const engine = await createFlags({ storage: memoryStorage(), environments: [{ name: environment }] });
  const refusalOf = (flag: DefinedFlag) =>
    engine.importDefinitions({ version: 1, flags: [flag] }, { dryRun: true }).then(() => undefined, toRefusal);
  const accepted: DefinedFlag[] = [];
  try {
    for (const flag of flags) {
      const refusal = await refusalOf(flag);
      const off: DefinedFlag = { ...flag, environments: { [environment]: { enabled: false, strategies: [] } } };
      if (refusal === undefined) accepted.push(flag);
      else if ((await refusalOf(off)) === undefined) {
        report.add(`${flag.name}: ${refusal}. ${IMPORTED_OFF}`);
        accepted.push(off);
      } else {
        const { variants = [], ...rest } = off;
        if (variants.length > 0) report.add(`${flag.name}: ${refusal}. The flag is imported off and without variants.`);
        accepted.push(variants.length > 0 ? rest : flag);
      }
    }
  } finally {
    await engine.close();
  }
  return accepted;
}

function toRefusal(error: unknown): string {
  if (!isFlagsError(error)) throw error;
  const [detail] = error.details;
  return detail?.path ? `${detail.path.replace('/flags/0/', '')} ${detail.message}` : error.message;
}

const IMPORTED_OFF = 'The flag is imported off: write its rules as strategies.';

/** Replaces `{ "$ref": name }` by the evaluator of this name. */
function resolve(rule: unknown, evaluators: Members, depth = 0): unknown {
  if (depth > 20 || typeof rule !== 'object' || rule === null) return rule;
  if (Array.isArray(rule)) return rule.map((one) => resolve(one, evaluators, depth + 1));
  const { $ref } = rule as Members;
  if (typeof $ref === 'string') {
    // A broken reference stays, and has no equivalent.
    return Object.hasOwn(evaluators, $ref) ? resolve(evaluators[$ref], evaluators, depth + 1) : rule;
  }
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

const SWITCHED_OFF: Converted = { variants: [], strategies: [] };

/** The flag is on for contexts whose variant is true. */
function toSwitch(name: string, { variants, defaultVariant, targeting }: Flag, report: Report): Converted {
  const values = membersOf(variants);
  const isTrue = (variant: unknown) => values[`${variant}`] === true;
  const hasDefault = isVariantOf(values, defaultVariant);
  const isOnByDefault = hasDefault && isTrue(defaultVariant);
  if (isEmpty(targeting)) {
    if (!hasDefault) report.add(`${name}: ${WITHOUT_DEFAULT} It is off for them, whatever default they name.`);
    return { variants: [], strategies: isOnByDefault ? [EVERYBODY] : [] };
  }
  const distribution = distributionOf(targeting);
  if (distribution?.weights.every(([variant]) => Object.hasOwn(values, variant))) {
    const share = distribution.weights
      .filter(([variant]) => isTrue(variant))
      .reduce((sum, [, weight]) => sum + weight, 0);
    report.add(`${name}: other users are in the share of ${share / 10} %, because another hash chooses them.`);
    const parameters = { rollout: `${Math.round(share / 10)}`, stickiness: distribution.stickiness, groupId: name };
    return { variants: [], strategies: [{ name: 'flexibleRollout', parameters }] };
  }
  const rules = toRules(targeting);
  const isFallback = rules?.otherwise === undefined;
  if (rules && isFallback && !hasDefault) {
    report.add(`${name}: ${WITHOUT_DEFAULT} It is off for them, whatever default they name.`);
  }
  const last = isFallback ? isOnByDefault : isTrue(rules.otherwise);
  const all = rules?.rules ?? [];
  // Strategies only turn a flag on, so no rule may turn it off before a later rule turns it on.
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
  report.add(`${name}: ${WITHOUT_EQUIVALENT} ${IMPORTED_OFF}`);
  return SWITCHED_OFF;
}

const WITHOUT_DEFAULT = 'it has no defaultVariant for contexts that no rule matches.';
const WITHOUT_EQUIVALENT = 'its targeting has no equivalent.';

/** Rules may give a boolean for the variants named true and false. */
function isVariantOf(values: Members, variant: unknown): boolean {
  return (typeof variant === 'string' || typeof variant === 'boolean') && Object.hasOwn(values, `${variant}`);
}

const NULL_AS_FALSE =
  'if the value that its targeting compares is missing or invalid, flagd returns the default variant, but the imported flag returns the variant false.';

function isEmpty(targeting: unknown): boolean {
  return targeting === undefined || targeting === null || Object.keys(membersOf(targeting)).length === 0;
}

function toVariantFlag(name: string, { variants, defaultVariant, targeting }: Flag, report: Report): Converted {
  const values = membersOf(variants);
  const hasDefault = isVariantOf(values, defaultVariant);
  const names = new Map(Object.keys(values).map((variant) => [variant, toName(variant, report)]));
  const toVariants = (weightOf: (variant: string) => number): VariantInput[] => {
    const weighted = Object.entries(values).map(([variant, value]) => ({ variant, value, weight: weightOf(variant) }));
    const heaviest = Math.max(...weighted.map(({ weight }) => weight));
    const variable = weighted.findIndex(({ weight }) => weight === heaviest);
    return weighted.map(({ variant, value, weight }, index) => ({
      name: names.get(variant) ?? variant,
      ...(index === variable ? { weightType: 'variable' as const } : { weightType: 'fix' as const, weight }),
      payload: toPayload(value),
    }));
  };
  const all = toVariants((variant) => (variant === defaultVariant ? 1000 : 0));
  const noteDefault = () => {
    if (!hasDefault) report.add(`${name}: ${WITHOUT_DEFAULT} It is off for them, so that they get their own default.`);
  };
  if (isEmpty(targeting)) {
    noteDefault();
    return { variants: all, strategies: hasDefault ? [EVERYBODY] : [] };
  }
  const distribution = distributionOf(targeting);
  if (distribution?.weights.every(([variant]) => Object.hasOwn(values, variant))) {
    const weights = new Map(distribution.weights);
    report.add(`${name}: users may get other variants than before, because another hash chooses them.`);
    const spread = toVariants((variant) => weights.get(variant) ?? 0);
    return {
      variants: spread.map((one) => ({ ...one, stickiness: distribution.stickiness })),
      strategies: [EVERYBODY],
    };
  }
  const rules = toRules(targeting);
  const isKnown = (variant: unknown) => isVariantOf(values, variant);
  const isFallback = rules?.otherwise === undefined;
  if (!rules?.rules.every(({ variant }) => isKnown(variant)) || !(isFallback || isKnown(rules.otherwise))) {
    report.add(`${name}: ${WITHOUT_EQUIVALENT} ${IMPORTED_OFF}`);
    return { variants: all, strategies: [] };
  }
  const fixed = (variant: unknown) => {
    const one = { name: names.get(`${variant}`) ?? '', weightType: 'variable' as const, weight: 1000 };
    return [{ ...one, stickiness: 'default', payload: toPayload(values[`${variant}`]) }];
  };
  const strategies = rules.rules.map(({ constraints, variant }): DefinedStrategy => {
    return { name: 'default', constraints, variants: fixed(variant) };
  });
  if (!isFallback)
    return { variants: all, strategies: [...strategies, { name: 'default', variants: fixed(rules.otherwise) }] };
  noteDefault();
  return { variants: all, strategies: hasDefault ? [...strategies, EVERYBODY] : strategies };
}

function toPayload(value: unknown): NonNullable<VariantInput['payload']> {
  if (typeof value === 'string') return { type: 'string', value };
  if (typeof value === 'number') return { type: 'number', value: `${value}` };
  return { type: 'json', value: JSON.stringify(value) };
}
