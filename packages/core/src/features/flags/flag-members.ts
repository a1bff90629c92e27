import { LIMITS } from '../../base/limits.js';
import { type JsonSchema, text } from '../../base/primitives.js';
import type { FlagMembers } from './flag.types.js';

/** What everything that handles all members of a flag needs to know of one. */
interface FlagMember<Value> {
  /** The value in a new flag, and in a flag that was stored before the member existed. */
  readonly initial: Value;
  /** The schema of an input. Replies show the types, without the limits. */
  readonly schema: JsonSchema;
  /** The value after a JSON Patch has removed the member. Absent: a patch cannot remove it. */
  readonly removed?: Value;
  /** The search for a text looks here, too. */
  readonly isSearched?: true;
}

/**
 * The members of a flag that its creation and `updateFlag` set. Inputs, definitions, events, replies, patches and the
 * search for a text follow from these rows.
 */
export const FLAG_MEMBERS: { readonly [Name in keyof FlagMembers]: FlagMember<FlagMembers[Name]> } = {
  description: {
    initial: '',
    schema: { type: ['string', 'null'], maxLength: LIMITS.description },
    removed: null,
    isSearched: true,
  },
  // Which types there are is a setting. A host without this one prefers its first type.
  type: { initial: 'release', schema: { type: 'string' } },
  stale: { initial: false, schema: { type: 'boolean' } },
  impressionData: { initial: false, schema: { type: 'boolean' } },
  labels: {
    initial: Object.freeze([]),
    schema: { type: 'array', maxItems: LIMITS.labelsPerFlag, items: text(LIMITS.flagLabel) },
    removed: Object.freeze([]),
    isSearched: true,
  },
  owner: {
    initial: null,
    schema: { ...text(LIMITS.owner), type: ['string', 'null'] },
    removed: null,
    isSearched: true,
  },
};

export const FLAG_MEMBER_NAMES = Object.keys(FLAG_MEMBERS) as readonly (keyof FlagMembers)[];

/** The members that `createFlag` takes and `flag-updated` changes: staleness has events of its own. */
export const METADATA = FLAG_MEMBER_NAMES.filter((name) => name !== 'stale');

/** Returns the members of a flag. Absent ones have their initial values. */
export function membersOf(flag: Partial<FlagMembers>): FlagMembers {
  const members: Partial<Record<keyof FlagMembers, unknown>> = {};
  for (const name of FLAG_MEMBER_NAMES) {
    const value = flag[name];
    members[name] = value === undefined ? FLAG_MEMBERS[name].initial : value;
  }
  return members as FlagMembers;
}

/** Returns the schemas of the members in inputs. */
export function memberSchemas(): Readonly<Record<keyof FlagMembers, JsonSchema>> {
  const schemas = Object.entries(FLAG_MEMBERS).map(([name, { schema }]) => [name, schema] as const);
  return Object.fromEntries(schemas) as Record<keyof FlagMembers, JsonSchema>;
}

const SEARCHED = FLAG_MEMBER_NAMES.filter((name) => FLAG_MEMBERS[name].isSearched);

/** Whether a member of a flag that is searched contains a text of lower-case letters. */
export function isTextInMembers(flag: FlagMembers, text: string): boolean {
  return SEARCHED.some((name) => {
    const value: unknown = flag[name];
    return Array.isArray(value) ? value.some((item) => contains(item, text)) : contains(value, text);
  });
}

function contains(value: unknown, text: string): boolean {
  return typeof value === 'string' && value.toLowerCase().includes(text);
}
