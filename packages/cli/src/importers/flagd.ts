import type { DefinedFlag, Definitions, VariantInput } from '@flags/core';
import type { DefinedStrategy } from '@flags/core/types';
import { toRules } from './flagd-targeting.js';
import {
  convertFlags,
  type Importer,
  type ImportTarget,
  isObject,
  type Members,
  membersOf,
  NoEquivalent,
  type Report,
  textOf,
  toDefinitions,
  toName,
} from './importer.js';

/** Converts flag definitions of flagd. Inlines the evaluators that targeting refers to. */
export const flagd: Importer = { refuse, convert };

function refuse(document: unknown): string | undefined {
  const { flags } = membersOf(document);
  if (!isObject(flags) && !Array.isArray(flags)) return 'This is not a file of flagd: it has no member "flags"';
  const all = Object.values(flags);
  if (all.length === 0 || all.some(hasRequired)) return undefined;
  return 'This is not a file of flagd: none of its flags has the members "state" and "variants"';
}

/** Returns the flags by their keys. A list has them in a member `key`. */
function entriesOf({ flags }: Members, report: Report): readonly (readonly [key: string, flag: unknown])[] {
  if (!Array.isArray(flags)) return Object.entries(membersOf(flags));
  return flags.flatMap((flag, index) => {
    const key = textOf(membersOf(flag).key);
    if (key) return [[key, flag] as const];
    report.leaveOut(`/flags/${index}`, `/flags/${index}/name is missing: a flag in a list needs the member "key"`);
    return [];
  });
}

function hasRequired(flag: unknown): boolean {
  const { state, variants } = membersOf(flag);
  return (state === 'ENABLED' || state === 'DISABLED') && Object.keys(membersOf(variants)).length > 0;
}

function convert(document: unknown, { environment }: ImportTarget, report: Report): Definitions {
  const members = membersOf(document);
  noteOthers('the file', members, { $schema: true, flags: true, $evaluators: true, metadata: true }, report);
  noteOthers('the file', membersOf(members.metadata), {}, report);
  const evaluators = membersOf(members.$evaluators);
  const flags = convertFlags(entriesOf(members, report), report, (name, given) => {
    const flag = toFlag(name, membersOf(given), evaluators);
    const { description = flag.metadata.description, ...others } = membersOf(given);
    const converted = flag.isSwitch ? toSwitch(flag) : toVariantFlag(flag, report);
    noteOthers(name, others, KNOWN, report);
    noteOthers(name, flag.metadata, { description: true }, report);
    if (!flag.isEnabled && flag.isSwitch) {
      report.add(`${name}: it is disabled, for which flagd returns the default of the code. It is off here.`);
    }
    return toDefinition(converted, { environment, description, isEnabled: flag.isEnabled });
  });
  return toDefinitions({ flags });
}

const KNOWN = {
  key: true,
  state: true,
  variants: true,
  defaultVariant: true,
  targeting: true,
  metadata: true,
} as const;

/** Notes members that have no place here. */
function noteOthers(of: string, members: Members, known: Readonly<Record<string, true>>, report: Report): void {
  const others = Object.keys(members).filter((member) => !Object.hasOwn(known, member));
  if (others.length > 0) report.add(`${of}: its metadata is not imported: ${others.join(', ')}.`);
}

interface Flag {
  readonly name: string;
  readonly isEnabled: boolean;
  /** All variants are booleans. */
  readonly isSwitch: boolean;
  readonly variants: Members;
  readonly defaultVariant: string | undefined;
  readonly targeting: unknown;
  readonly metadata: Members;
}

function toFlag(name: string, given: Members, evaluators: Members): Flag {
  if (!hasRequired(given)) throw new NoEquivalent('it lacks "state" or "variants", which flagd requires');
  const variants = membersOf(given.variants);
  const { defaultVariant } = given;
  const hasDefault = defaultVariant !== undefined && defaultVariant !== null;
  if (hasDefault && !(typeof defaultVariant === 'string' && Object.hasOwn(variants, defaultVariant))) {
    throw new NoEquivalent('its defaultVariant is not one of its variants');
  }
  const isEmpty = !given.targeting || (isObject(given.targeting) && Object.keys(given.targeting).length === 0);
  const targeting = isEmpty ? undefined : inlined(given.targeting, evaluators);
  return {
    name,
    isEnabled: given.state === 'ENABLED',
    isSwitch: Object.values(variants).every((value) => typeof value === 'boolean'),
    variants,
    defaultVariant: hasDefault ? (defaultVariant as string) : undefined,
    targeting,
    metadata: membersOf(given.metadata),
  };
}

function assertVariant(variant: string, variants: Members): void {
  if (!Object.hasOwn(variants, variant))
    throw new NoEquivalent(`its targeting names the variant ${variant}, which is not there`);
}

/** Replaces `{ "$ref": name }` by the evaluator of this name. Evaluators do not refer to others. */
function inlined(rule: unknown, evaluators: Members): unknown {
  if (Array.isArray(rule)) return rule.map((one) => inlined(one, evaluators));
  if (!isObject(rule)) return rule;
  const { $ref, ...others } = rule;
  if (typeof $ref === 'string' && Object.keys(others).length === 0) {
    if (Object.hasOwn(evaluators, $ref)) return evaluators[$ref];
    throw new NoEquivalent(`its targeting refers to the evaluator ${$ref}, which is not there`);
  }
  return Object.fromEntries(Object.entries(rule).map(([name, one]) => [name, inlined(one, evaluators)]));
}

interface Converted {
  readonly variants: readonly VariantInput[];
  readonly strategies: readonly DefinedStrategy[];
}

function toDefinition(
  { variants, strategies }: Converted,
  settings: { readonly environment: string; readonly description: unknown; readonly isEnabled: boolean },
): Omit<DefinedFlag, 'name'> {
  const { environment, description, isEnabled } = settings;
  return {
    ...(typeof description === 'string' && { description }),
    ...(variants.length > 0 && { variants }),
    environments: { [environment]: { enabled: isEnabled && strategies.length > 0, strategies } },
  };
}

const EVERYBODY: DefinedStrategy = { name: 'default' };

/** The flag is on for contexts whose variant is true. */
function toSwitch({ variants, defaultVariant, targeting }: Flag): Converted {
  const isTrue = (variant: string) => variants[variant] === true;
  if (defaultVariant === undefined) throw new NoEquivalent('it has no defaultVariant, so the code decides');
  const isOnByDefault = isTrue(defaultVariant);
  if (targeting === undefined) return { variants: [], strategies: isOnByDefault ? [EVERYBODY] : [] };
  const { rules, otherwise } = toRules(targeting, defaultVariant);
  for (const variant of [...rules.map((rule) => rule.variant), otherwise ?? defaultVariant]) {
    assertVariant(variant, variants);
  }
  const isOnOtherwise = otherwise === undefined ? isOnByDefault : isTrue(otherwise);
  // Strategies only turn a flag on, so no rule may turn it off before a later one turns it on.
  if (!isOnOtherwise && rules.every(({ variant }) => isTrue(variant))) {
    return { variants: [], strategies: rules.map(({ constraints }) => ({ name: 'default', constraints })) };
  }
  const [{ constraints: [constraint, ...others] = [], variant = '' } = {}, ...more] = rules;
  if (!constraint || others.length + more.length > 0 || isTrue(variant) || !isOnOtherwise) {
    throw new NoEquivalent('its targeting has no equivalent: a rule that turns the flag off before others');
  }
  const inverted = [{ ...constraint, inverted: constraint.inverted !== true }];
  return { variants: [], strategies: [{ name: 'default', constraints: inverted }] };
}

function toVariantFlag(flag: Flag, report: Report): Converted {
  const { name, variants: values, defaultVariant, targeting } = flag;
  const nameOf = (variant: string) => {
    const permitted = toName(variant);
    if (permitted !== variant) report.add(`${name}: its variant ${variant} is named ${permitted} here.`);
    return permitted;
  };
  /** The variants, of which everybody gets one. */
  const weighted = (only: string | undefined) => {
    const variable = only ?? Object.keys(values)[0];
    return Object.keys(values).map((variant) => ({
      name: nameOf(variant),
      weightType: variant === variable ? ('variable' as const) : ('fix' as const),
      weight: variant === only ? 1000 : 0,
      stickiness: 'default',
      payload: toPayload(values[variant]),
    }));
  };
  const always = (strategy: DefinedStrategy, only: string): DefinedStrategy => {
    assertVariant(only, values);
    return { ...strategy, variants: weighted(only).filter(({ weight }) => weight > 0) };
  };
  // Without a default variant, the flag is off for the others, so that the code decides.
  const last = defaultVariant === undefined ? [] : [always(EVERYBODY, defaultVariant)];
  const variants = weighted(defaultVariant);
  if (targeting === undefined) return { variants, strategies: last.length > 0 ? [EVERYBODY] : [] };
  const { rules, otherwise } = toRules(targeting, defaultVariant);
  const matching = rules.map(({ constraints, variant }) => always({ name: 'default', constraints }, variant));
  return { variants, strategies: [...matching, ...(otherwise === undefined ? last : [always(EVERYBODY, otherwise)])] };
}

function toPayload(value: unknown): NonNullable<VariantInput['payload']> {
  if (typeof value === 'string') return { type: 'string', value };
  if (typeof value === 'number') return { type: 'number', value: `${value}` };
  return { type: 'json', value: JSON.stringify(value) };
}
