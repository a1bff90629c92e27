import type { Change } from '@flags/core';
import type { Command } from 'commander';
import type { CommandIo } from '../output.js';
import { applyReviewed } from '../review.js';
import { findFlag, withSession } from '../session.js';

/** Adds the lifecycle commands of a flag: `archive`, `revive`, `clone` and `stale`. */
export function addLifecycleCommands(program: Command, io: CommandIo): void {
  const apply = (command: Command, flag: string, changeOf: (ref: { project: string; flag: string }) => Change) =>
    withSession(io, command.optsWithGlobals(), async (session) => {
      const { project } = await findFlag(session, flag);
      await applyReviewed(session, [changeOf({ project, flag })]);
    });
  program
    .command('archive')
    .description('archive a flag; clients then do not get it')
    .argument('<flag>')
    .action((flag: string, _options, command: Command) => apply(command, flag, (ref) => ({ op: 'archiveFlag', ref })));
  program
    .command('revive')
    .description('revive an archived flag, off in every environment')
    .argument('<flag>')
    .action((flag: string, _options, command: Command) => apply(command, flag, (ref) => ({ op: 'reviveFlag', ref })));
  program
    .command('clone')
    .description('copy a flag with its strategies and variants, off in every environment')
    .argument('<flag>')
    .argument('<name>', 'the name of the copy')
    .action((flag: string, name: string, _options, command: Command) =>
      apply(command, flag, (ref) => ({ op: 'cloneFlag', ref, input: { name } })),
    );
  program
    .command('stale')
    .description('mark a flag as stale: its code can go')
    .argument('<flag>')
    .option('--off', 'take the mark away')
    .action((flag: string, { off = false }: { readonly off?: boolean }, command: Command) =>
      apply(command, flag, (ref) => ({ op: 'updateFlag', ref, input: { stale: !off } })),
    );
}
