/** An event of a plan, or of a change set, as the API sends it. */
export interface WireEvent {
  readonly type: string;
  readonly project?: string | null;
  readonly featureName?: string | null;
  readonly environment?: string | null;
  readonly data?: unknown;
  readonly preData?: unknown;
}

/** Describes an event in words, with the values that changed. */
export function describeEvent({ type, environment, data, preData }: WireEvent): string {
  const place = environment == null ? '' : `${environment}: `;
  const fact = FACTS[type] ?? type.replace(/^feature-/, '').replaceAll('-', ' ');
  const changes = SWITCHES.has(type) ? '' : differences(preData, data);
  return `${place}${fact}${changes === '' ? '' : ` (${changes})`}`;
}

/** Returns the subject of an event: the flag, or else the project. */
export function subjectOf({ featureName, project }: WireEvent): string {
  return featureName ?? project ?? '';
}

/** Events whose type is a complete description. */
const SWITCHES = new Set(['feature-environment-enabled', 'feature-environment-disabled', 'feature-archived']);

const FACTS: Readonly<Record<string, string>> = {
  'feature-created': 'created, off in every environment',
  'feature-environment-enabled': 'switched on',
  'feature-environment-disabled': 'switched off',
  'feature-metadata-updated': 'updated',
  'feature-strategy-add': 'strategy added',
  'feature-strategy-update': 'strategy updated',
  'feature-strategy-remove': 'strategy removed',
  'feature-strategy-order': 'strategies in another order',
  'feature-environment-configured': 'configured',
  'feature-project-change': 'moved',
};

const LONGEST_VALUE = 60;
const MOST_ITEMS = 10;
/** Members that the sentence already contains, or that are irrelevant to people. */
const UNINTERESTING = new Set(['id', 'createdAt', 'revision', 'project', 'environments', 'groupId', 'sortOrder']);

function differences(before: unknown, after: unknown): string {
  const [old, current] = [membersOf(before), membersOf(after)];
  return [...new Set([...old.keys(), ...current.keys()])]
    .filter((name) => JSON.stringify(old.get(name)) !== JSON.stringify(current.get(name)))
    .flatMap((name) => {
      const [was, is] = [old.get(name), current.get(name)];
      if (isEmpty(was) && isEmpty(is)) return [];
      return isEmpty(was) ? `${name} ${short(is)}` : `${name} ${short(was)} → ${short(is)}`;
    })
    .join(', ');
}

/** Returns the members of an object. Parameters count as members of their strategy. */
function membersOf(value: unknown): ReadonlyMap<string, unknown> {
  if (!isObject(value)) return new Map();
  const members = Object.entries(value).filter(([name]) => !UNINTERESTING.has(name));
  return new Map(
    members.flatMap(([name, member]) =>
      name === 'parameters' && isObject(member) ? [...membersOf(member)] : [[name, member]],
    ),
  );
}

function isEmpty(value: unknown): boolean {
  return value == null || value === '' || value === false || (Array.isArray(value) && value.length === 0);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function short(value: unknown): string {
  const text = textOf(value);
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}…`;
}

function textOf(value: unknown): string {
  if (isEmpty(value)) return 'none';
  if (Array.isArray(value)) {
    const rest = value.length > MOST_ITEMS ? ', …' : '';
    return `${value.slice(0, MOST_ITEMS).map(itemText).join(', ')}${rest}`;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Names variants with their weight, and constraints with their test. */
function itemText(item: unknown): string {
  if (!isObject(item)) return String(item);
  const { name, weight, contextName, operator, inverted, values, value } = item;
  if (typeof weight === 'number') return `${String(name)} ${weight / 10}%`;
  if (contextName === undefined) return JSON.stringify(item);
  const operand =
    Array.isArray(values) && values.length > 0 ? values.slice(0, MOST_ITEMS).join(' ') : String(value ?? '');
  return `${String(contextName)} ${inverted === true ? 'not ' : ''}${String(operator)} ${operand}`.trimEnd();
}

/** Describes a constraint as in events. */
export const describeConstraint: (constraint: unknown) => string = itemText;
