import type { RequestedChange } from '@flags/core';
import type { ChangeRequest, Plan } from '@flags/http/wire';
import type { Command } from 'commander';
import { CommandError, usageError } from './output.js';
import type { CommandSession, CommonOptions } from './session.js';

/** A time that a server accepts: it refuses times more than a year ahead. */
const TOMORROW = `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)}T09:00:00+02:00`;

/** The options of every command that requests changes, or applies requested ones. */
export const AT = ['--at <time>', `apply the changes then: ${TOMORROW}, with an offset or Z`] as const;
export const BYPASS = ['--bypass-approval <reason>', 'do without the approval that the changes need'] as const;

/** Adds the options of every command that applies reviewed changes. */
export function withWays(command: Command): Command {
  return command
    .option(...AT)
    .option('--request', 'request the changes: a person applies them later, with the approval that they need')
    .option(...BYPASS);
}

/** Whether the options keep changes for later instead of applying them. */
export function isRequested({ at, request }: CommonOptions): boolean {
  return at !== undefined || request === true;
}

/**
 * Checks that the options name one way.
 *
 * @throws CommandError
 */
export function assertWays(options: CommonOptions): void {
  const { at, bypassApproval } = options;
  if (at !== undefined) assertTime(at);
  if (bypassApproval === undefined || !isRequested(options)) return;
  throw usageError('--bypass-approval cannot go with --at or --request: a request waits for approval.');
}

/** A local time would mean another one on the server. */
function assertTime(at: string): void {
  if (/^\d{4}-\d{2}-\d{2}[T ].*(?:Z|[+-]\d{2}:?\d{2})$/i.test(at) && !Number.isNaN(Date.parse(at))) return;
  throw usageError(`--at is a time with Z or an offset, such as ${TOMORROW}, not ${at}.`);
}

/** The options of a change request that have no option on the command line. */
interface RequestChoices {
  /** The id of a request that this one replaces. */
  readonly replaces?: string | undefined;
}

/** Keeps changes until their time, or until a person applies them. */
export async function requestChanges(
  { api, output, options }: CommandSession,
  changes: readonly RequestedChange<string>[],
  { replaces }: RequestChoices = {},
): Promise<void> {
  const { at, reason } = options;
  const body = {
    changes,
    ...(at !== undefined && { at }),
    ...(reason !== undefined && { reason }),
    ...(replaces !== undefined && { replaces }),
  };
  const request = await api.change<ChangeRequest>('/change-requests', body);
  output.json({ changed: false, request });
  printRequest({ api, output }, request);
}

/** Says what a request waits for, and what to do then. */
export function printRequest({ api, output }: Pick<CommandSession, 'api' | 'output'>, request: ChangeRequest): void {
  const { id, state, approval, at, notAfter } = request;
  output.line(output.colors.green(`Requested${at === null ? '' : ` for ${at}`}: ${id}`));
  if (state === 'open') {
    const who = (approval?.required ?? 1) === 1 ? 'Somebody else' : `${approval?.required} others`;
    output.line(`${who} must approve it on the admin page${notAfter === null ? '' : `, until ${notAfter}`}.`);
  } else if (at === null) output.line('It needs no further approval.');
  const way = at === null ? `To apply it${state === 'open' ? ' then' : ''}: flags requests apply ${id}. ` : '';
  output.line(`${way}To take it back: flags requests withdraw ${id}`);
  if (at !== null && api.connection.flags) output.line(RUNS_ELSEWHERE);
}

/** The command line ends before anything is due. */
export const RUNS_ELSEWHERE = 'A service on this store with due: { run: true } must run then.';

/** The approval that changes need: "1 approval in production". */
export function describeApproval({ required, environments }: NonNullable<Plan['approval']>): string {
  return `${required} ${required === 1 ? 'approval' : 'approvals'} in ${environments.join(', ')}`;
}

/**
 * Refuses changes that lack their approval, before anybody is asked to confirm them.
 *
 * @param advice what to do
 */
export function assertApproved(
  { options }: Pick<CommandSession, 'options'>,
  approval: Plan['approval'] | undefined,
  advice = 'Request it: repeat the command with --request.',
): void {
  if (!approval || isRequested(options) || options.bypassApproval !== undefined) return;
  throw new CommandError(`This needs ${describeApproval(approval)}. Nothing has changed. ${advice}`);
}
