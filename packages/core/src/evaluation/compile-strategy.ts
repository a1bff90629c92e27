import {
  ALWAYS,
  ContextField,
  NEVER,
  NO_ID,
  remoteAddress,
  SESSION_ID,
  USER_ID,
  USER_OR_SESSION,
  userId,
} from './context.js';
import { toOptionalText, toText } from './convert.js';
import { inAnyRange, isIPv4Range, parseRange } from './ip-address.js';
import { Rollout, type StrategyContext, type StrategyTest } from './rollout.js';
import { type BuiltInName, stickyField } from './strategies.js';

/** Parameters as they are stored, of any type. */
type Parameters = Readonly<Record<string, unknown>>;

/** Compiles a strategy's own condition, without its constraints and segments. */
type Compile = (parameters: Parameters, context: StrategyContext) => StrategyTest;

/** The code of each strategy. */
const COMPILERS: Readonly<Record<BuiltInName, Compile>> = {
  flexibleRollout(parameters, context) {
    const settings = { groupId: groupOf(parameters), percentage: parameters.rollout };
    const field = stickyField(parameters);
    if (field !== undefined)
      return new Rollout({ ...settings, id: new ContextField(field), withoutId: 'off' }, context);
    const id = parameters.stickiness === 'random' ? NO_ID : USER_OR_SESSION;
    return new Rollout({ ...settings, id, withoutId: 'random' }, context);
  },
  default: () => ALWAYS,
  userWithId({ userIds }) {
    const ids = new Set<string | undefined>(entriesOf(userIds, 'userIds'));
    return { holds: (context) => ids.has(userId(context)) };
  },
  // Compares addresses as text, and accepts IPv4 ranges.
  remoteAddress({ IPs }) {
    const entries = entriesOf(IPs, 'IPs');
    const texts = new Set<string>(entries);
    const ranges = entries
      .map(parseRange)
      .filter((range) => range !== undefined)
      .filter(isIPv4Range);
    return {
      holds: (context) => {
        const address = remoteAddress(context);
        return address !== undefined && (texts.has(address) || inAnyRange(ranges, address));
      },
    };
  },
  applicationHostname({ hostNames }, { hostname }) {
    const names = entriesOf(hostNames, 'hostNames').map((name) => name.toLowerCase());
    return hostname !== undefined && names.includes(hostname.toLowerCase()) ? ALWAYS : NEVER;
  },
  gradualRolloutUserId: (parameters, context) => gradualRollout(parameters, USER_ID, context),
  gradualRolloutSessionId: (parameters, context) => gradualRollout(parameters, SESSION_ID, context),
  gradualRolloutRandom: ({ percentage }, context) =>
    new Rollout({ groupId: '', percentage, id: NO_ID, withoutId: 'random' }, context),
};

/**
 * Compiles a strategy that the library implements; undefined for other names.
 *
 * @throws TypeError if the parameters cannot be read
 */
export function compileStrategy(
  name: string,
  parameters: Parameters,
  context: StrategyContext,
): StrategyTest | undefined {
  return Object.hasOwn(COMPILERS, name) ? COMPILERS[name as BuiltInName](parameters, context) : undefined;
}

/**
 * Splits a comma-separated parameter and trims white space around the commas, but not at both ends. Linear, unlike a
 * split by `\s*,\s*`.
 */
export function splitList(text: string): string[] {
  const entries = text.split(',');
  const last = entries.length - 1;
  return entries.map((entry, at) => {
    const start = at === 0 ? entry : entry.trimStart();
    return at === last ? start : start.trimEnd();
  });
}

/** An empty entry is none: many applications pass an empty id for guests. */
function entriesOf(list: unknown, what: string): string[] {
  const text = toOptionalText(list, what);
  return text ? splitList(text).filter((entry) => entry.trim() !== '') : [];
}

function groupOf(parameters: Parameters): string {
  return toText(parameters.groupId || '', 'groupId');
}

function gradualRollout(parameters: Parameters, id: ContextField, context: StrategyContext): StrategyTest {
  const { percentage } = parameters;
  return new Rollout({ groupId: groupOf(parameters), percentage, id, withoutId: 'off' }, context);
}
