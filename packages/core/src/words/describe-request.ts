import { isObject } from '../base/json.js';

/*
 * Words for the events of change requests.
 */

interface RequestFact {
  readonly type: string;
  readonly actor: string;
  readonly data: unknown;
}

/** What the events of a request tell. */
interface RequestWords {
  readonly state: string;
  readonly decision?: string;
  readonly author: string;
  readonly ops?: readonly string[];
  readonly flags: readonly { readonly flag: string }[];
  readonly flagCount: number;
  readonly environments: readonly string[];
  readonly at: string | null;
  readonly failure?: { readonly message: string } | null;
}

/** Describes in one sentence who requests which change, or who has decided about a request. Undefined for other events. */
export function describeRequestEvent({ type, actor, data }: RequestFact): string | undefined {
  if (!type.startsWith('change-request-') || !isObject(data) || !Array.isArray(data.flags)) return undefined;
  const request = data as unknown as RequestWords;
  return `${describeDecision(actor, request)}: ${describeAim(request)}${describeEnd(request)}`;
}

function describeDecision(actor: string, { state, decision, author, at }: RequestWords): string {
  const theirs = actor === author ? 'the request' : `the request of ${author}`;
  if (decision === 'approved') return `${actor} approved ${theirs}`;
  if (decision !== undefined) return `${actor} set the time of ${theirs} to ${at}`;
  switch (state) {
    case 'open':
      return `${author} asks for approval`;
    case 'approved':
      return at === null ? `${author} has prepared a change` : `${author} plans a change at ${at}`;
    case 'applied':
      return `${actor} applied ${theirs}`;
    case 'rejected':
      return `${actor} rejected ${theirs}`;
    case 'withdrawn':
      return `${actor} withdrew ${theirs}`;
    default:
      return `The request of ${author} ${state === 'failed' ? 'failed' : 'expired'}`;
  }
}

function describeEnd({ state, decision, at, failure }: RequestWords): string {
  if (failure) return `. ${failure.message}`;
  return state === 'open' && decision === undefined && at !== null ? `, at ${at}` : '';
}

/** What the operations of a request make of its flags. Others are changes. */
const AIMS: ReadonlyMap<string, (flags: string) => string> = new Map([
  ['enable', (flags) => `${flags} on`],
  ['disable', (flags) => `${flags} off`],
  ['archiveFlag', (flags) => `${flags} archived`],
  ['reviveFlag', (flags) => `${flags} revived`],
  ['deleteFlag', (flags) => `${flags} deleted`],
  ['createFlag', (flags) => `new flag ${flags}`],
  ['startRollout', (flags) => `rollout of ${flags}`],
  ['undoChangeSet', (flags) => `undo of a change of ${flags}`],
]);

/** Says what a request would change: "checkout on in production". */
function describeAim({ ops = [], flags, flagCount, environments }: RequestWords): string {
  // A flag without strategies gets one when it is switched on.
  const [op = '', ...others] = ops.includes('enable') ? ops.filter((one) => one !== 'addStrategy') : ops;
  if (op === 'setApprovalPolicy' && others.length === 0) return 'the approval policy';
  if (flagCount === 0) return 'other changes than of flags';
  const [first, ...more] = flags.map(({ flag }) => flag);
  const names = flagCount > 3 || more.length === 0 ? `${first}` : [first, ...more].join(', ');
  const all = flagCount > 3 ? `${names} and ${flagCount - 1} more flags` : names;
  const aim = others.length === 0 ? AIMS.get(op) : undefined;
  const places = environments.length > 0 ? ` in ${environments.join(', ')}` : '';
  return `${aim ? aim(all) : `changes of ${all}`}${places}`;
}
