import { itemsOf, type OperandKind, operatorOf } from '@flags/core/admin';
import type { Constraint, Context, Segment } from '../api/types.js';
import { DAY } from './usage-sums.js';

/** Context fields, with values that constraints on them accept. The list is empty if no value can be derived. */
export type ContextFields = ReadonlyMap<string, readonly string[]>;

/** Made-up users in one group. */
const GROUP = 200;
/** Groups with values; one more group has no value. Together they fill one preview. */
const MAX_GROUPS = 4;
const NOT_CUSTOM = new Set(['default', 'random', 'userId', 'sessionId']);
/** Fields that the engine supplies. */
const SUPPLIED = new Set(['currentTime', 'environment']);

/** The documents of an evaluation, and the contexts to evaluate. */
interface Evaluated {
  readonly changes: unknown;
  /** Documents before the changes. */
  readonly stored: unknown;
  readonly segments: readonly Segment[];
  readonly contexts: readonly Context[];
}

/**
 * Returns the context fields that the changes or the stored documents read and no context has. Values that occur only
 * before or only after the changes come first, because the changes concern them.
 */
export function missingFields({ changes, stored, segments, contexts }: Evaluated): ContextFields {
  const has = ({ properties, ...standard }: Context, name: string) =>
    (properties?.[name] ?? (standard as Readonly<Record<string, unknown>>)[name]) !== undefined;
  const isMissing = (name: string) => !contexts.some((context) => has(context, name));
  const [after, before] = [changes, stored].map((documents) => fieldsIn(documents, segments, isMissing));
  const valuesOf = (name: string) => {
    const [is, was] = [[...(after?.get(name) ?? [])], [...(before?.get(name) ?? [])]];
    const came = is.filter((value) => !before?.get(name)?.has(value));
    const went = was.filter((value) => !after?.get(name)?.has(value));
    const half = MAX_GROUPS / 2;
    return [...new Set([...came.slice(0, half), ...went.slice(0, half), ...came, ...went, ...is])].slice(0, MAX_GROUPS);
  };
  return new Map([...(after?.keys() ?? []), ...(before?.keys() ?? [])].map((name) => [name, valuesOf(name)]));
}

/**
 * Finds the context fields that documents read in constraints, overrides, segments, stickiness and IP
 * addresses. The stored form and the wire form use the same names for these members.
 */
function fieldsIn(documents: unknown, segments: readonly Segment[], isWanted: (name: string) => boolean) {
  const fields = new Map<string, Set<string>>();
  const wanted = new Map<string, boolean>([...SUPPLIED].map((name) => [name, false]));
  const known = new Map(segments.map((segment) => [segment.id, segment]));
  const add = (name: unknown, values: readonly string[] = []) => {
    if (typeof name !== 'string' || name === '') return;
    if (!wanted.has(name)) wanted.set(name, isWanted(name));
    if (!wanted.get(name)) return;
    const all = fields.get(name) ?? new Set();
    fields.set(name, all);
    for (const value of values) all.add(value);
  };
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { contextName, stickiness, name, parameters, segments: ids } = value as Readonly<Record<string, unknown>>;
    if (contextName !== undefined) add(contextName, admitted(value as Constraint));
    if (!NOT_CUSTOM.has(String(stickiness))) add(stickiness);
    if (name === 'remoteAddress' && parameters) add(name, listOf((parameters as { readonly IPs?: unknown }).IPs));
    if (Array.isArray(ids)) visit(ids.map((id) => known.get(id)?.constraints));
    for (const [key, member] of Object.entries(value)) if (key !== 'values') visit(member);
  };
  visit(documents);
  return fields;
}

const listOf = (text: unknown) => itemsOf(text).map(withoutMask);
const withoutMask = (network: string) => network.replace(/\/.*/, '');

interface Operands {
  readonly values: readonly string[];
  readonly value: string;
  /** From the operand to the next accepted value. */
  readonly step: number;
}

/** Values that a constraint accepts, by the kind of its operand. */
const ADMITTED: Readonly<Record<OperandKind, (operands: Operands) => readonly string[]>> = {
  texts: ({ values }) => values,
  networks: ({ values }) => values.map(withoutMask),
  number: ({ value, step }) => [String(Number(value) + step)],
  version: ({ value, step }) => [step < 0 ? '0.0.0' : value.replace(/\d+/, (major) => `${+major + step}`)],
  moment({ value, step }) {
    const time = Date.parse(value) + step * DAY;
    return Number.isNaN(time) ? [] : [new Date(time).toISOString()];
  },
  pattern: () => [],
};

const STEPS = { above: 1, below: -1 };

/** Returns values that a constraint accepts. For a negated operator, returns the values that it rejects. */
function admitted({ operator = 'IN', values = [], value = '' }: Constraint): readonly string[] {
  const { operand = 'texts', beyond } = operatorOf(operator) ?? {};
  return ADMITTED[operand]({ values, value, step: beyond ? STEPS[beyond] : 0 });
}

/** A list of made-up users, and its label. */
interface MadeUpUsers {
  /** "200 with country DE, 200 without". */
  readonly label: string;
  /** One line per user, in the format of the list of samples. */
  readonly text: string;
}

/** Generates users with these fields: one group per value, and one without. Undefined if no value is known. */
export function usersWith(fields: ContextFields): MadeUpUsers | undefined {
  const valued = [...fields].filter(([, values]) => values.length > 0);
  if (valued.length === 0) return undefined;
  const count = Math.max(...valued.map(([, values]) => values.length));
  const groups = Array.from({ length: count }, (_, index) =>
    valued.map(([name, values]) => [name, values[index % values.length] ?? ''] as const),
  );
  return {
    label: [
      ...groups.map((group) => `${GROUP} with ${group.map((field) => field.join(' ')).join(' and ')}`),
      `${GROUP} without`,
    ].join(', '),
    text: Array.from({ length: GROUP * (count + 1) }, (_, index) => {
      const userId = ['userId', `${index + 1}`];
      return new URLSearchParams([userId, ...(groups[Math.floor(index / GROUP)] ?? [])].map((field) => [...field]));
    }).join('\n'),
  };
}
