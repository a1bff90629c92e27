import type { Change, FlagRef } from '@flags/core';
import type { Command } from 'commander';
import type { CommandIo } from '../output.js';
import { withWays } from '../request-ways.js';
import { applyReviewed } from '../review.js';
import { type CommandSession, type CommonOptions, createAction, findFlag } from '../session.js';

/** Adds the lifecycle commands of a flag: `archive`, `revive`, `clone` and `stale`. */
export function addLifecycleCommands(program: Command, io: CommandIo): void {
  const apply = async (session: CommandSession, flag: string, changeOf: (ref: FlagRef) => Change) => {
    const { project } = await findFlag(session, flag);
    await applyReviewed(session, [changeOf({ project, flag })]);
  };
  withWays(
    program.command('archive').description('archive a flag, so that clients no longer receive it').argument('<flag>'),
  ).action(createAction(io, (session, flag: string) => apply(session, flag, (ref) => ({ op: 'archiveFlag', ref }))));
  withWays(
    program.command('revive').description('revive an archived flag; it is off in every environment').argument('<flag>'),
  ).action(createAction(io, (session, flag: string) => apply(session, flag, (ref) => ({ op: 'reviveFlag', ref }))));
  withWays(
    program
      .command('clone')
      .description('copy a flag with its strategies and variants; the copy is off in every environment')
      .argument('<flag>')
      .argument('<name>', 'the name of the copy'),
  ).action(
    createAction(io, (session, flag: string, name: string) =>
      apply(session, flag, (ref) => ({ op: 'cloneFlag', ref, input: { name } })),
    ),
  );
  withWays(
    program
      .command('stale')
      .description('mark a flag as stale, so that its code can be removed')
      .argument('<flag>')
      .option('--off', 'remove the mark'),
  ).action(
    createAction(io, (session: CommandSession<CommonOptions & { readonly off?: boolean }>, flag: string) =>
      apply(session, flag, (ref) => ({ op: 'updateFlag', ref, input: { stale: session.options.off !== true } })),
    ),
  );
}
