import type { Command } from 'commander';
import type { CommandIo } from '../output.js';
import { confirmOrRefuse, describeEvent, type WireChangeSet } from '../review.js';
import { type CommandSession, environmentOf, findFlag, withSession } from '../session.js';

interface WireHistory {
  readonly changes: readonly WireChangeSet[];
  readonly next?: string;
}

interface WirePlayground {
  readonly features: readonly WireExplanation[];
}

interface WireExplanation {
  readonly name: string;
  readonly enabled: boolean;
  readonly reason: string;
  readonly variant: { readonly name: string };
  readonly dependencies: readonly { readonly flag: string; readonly holds: boolean }[];
  readonly strategies: readonly {
    readonly name: string;
    readonly holds?: boolean;
    readonly enabled?: boolean;
    readonly constraints: readonly { readonly constraint: Readonly<Record<string, unknown>>; readonly holds: boolean }[];
    readonly [member: string]: unknown;
  }[];
}

/** Adds the commands about the past, and about reasons. */
export function addHistoryCommands(program: Command, io: CommandIo): void {
  program
    .command('history')
    .description('list change sets, newest first: of one flag, a project, or all')
    .argument('[flag]')
    .option('--limit <number>', 'at most this many', '20')
    .action((flag: string | undefined, _options, command: Command) =>
      withSession(io, command.optsWithGlobals(), (session) => showHistory(session, flag, command.opts().limit)),
    );
  program
    .command('undo')
    .description('take a change set back, with a change set of its own')
    .argument('<id>', 'the id that the change or the history shows')
    .action((id: string, _options, command: Command) =>
      withSession(io, command.optsWithGlobals(), (session) => undo(session, id)),
    );
  program
    .command('why')
    .description('explain why a flag is on or off for a user')
    .argument('<flag>')
    .option('--user <id>', 'userId of the context')
    .option('--session <id>', 'sessionId of the context')
    .option('--context <properties...>', 'properties of the context: country=DE plan=pro')
    .action((flag: string, _options, command: Command) =>
      withSession(io, command.optsWithGlobals(), (session) => explain(session, flag, command.opts())),
    );
}

async function showHistory(session: CommandSession, flag: string | undefined, limit: string): Promise<void> {
  const { api, output, options } = session;
  const path =
    flag !== undefined
      ? `/projects/${(await findFlag(session, flag)).project}/features/${flag}/history`
      : options.project !== undefined
        ? `/projects/${options.project}/history`
        : '/history';
  const { changes } = await api.get<WireHistory>(path, { limit });
  output.json(changes);
  if (changes.length === 0) output.line('No changes.');
  for (const { id, at, actor, reason, events } of changes) {
    output.line(`${output.colors.bold(at)}  ${actor}  ${output.colors.dim(id ?? '')}`);
    if (reason) output.line(`  ${reason}`);
    for (const event of events) {
      const { featureName, project } = event as { readonly featureName?: string; readonly project?: string };
      output.line(`  ${featureName ?? project ?? ''} ${describeEvent(event)}`);
    }
  }
}

async function undo(session: CommandSession, id: string): Promise<void> {
  const { api, output, options } = session;
  const path = `/changes/${encodeURIComponent(id)}`;
  const { at, actor, events } = await api.get<WireChangeSet>(path);
  output.line(`The change set of ${at} by ${actor}:`);
  for (const event of events) output.line(`  ${describeEvent(event)}`);
  if (options.dryRun === true) {
    output.json({ changed: false, events });
    return;
  }
  await confirmOrRefuse(session, 'Take it back?');
  const { reason } = options;
  const set = await api.post<WireChangeSet>(`${path}/undo`, reason === undefined ? {} : { reason });
  output.json(set);
  output.line(set.id === null ? 'Nothing to take back.' : output.colors.green(`Done, as change set ${set.id}.`));
}

interface ContextOptions {
  readonly user?: string;
  readonly session?: string;
  readonly context?: readonly string[];
}

async function explain(session: CommandSession, flag: string, given: ContextOptions): Promise<void> {
  const { api, output } = session;
  await findFlag(session, flag);
  const environment = await environmentOf(session);
  const properties = Object.fromEntries((given.context ?? []).map(splitProperty));
  const context = {
    ...(given.user !== undefined && { userId: given.user }),
    ...(given.session !== undefined && { sessionId: given.session }),
    ...(Object.keys(properties).length > 0 && { properties }),
  };
  const { features } = await api.post<WirePlayground>('/playground', { environment, flag, context });
  const [explanation] = features;
  output.json(explanation);
  if (!explanation) return;
  const { enabled, reason, variant, dependencies, strategies } = explanation;
  const state = enabled ? output.colors.green('on') : output.colors.red('off');
  output.line(`${flag} is ${state} in ${environment}: ${reason.replaceAll('-', ' ')}`);
  if (variant.name !== 'disabled') output.line(`variant ${variant.name}`);
  for (const { flag: parent, holds } of dependencies) output.line(`  ${mark(holds)} depends on ${parent}`);
  for (const strategy of strategies) {
    output.line(`  ${mark(strategy.holds === true)} ${strategy.name}`);
    for (const { constraint, holds } of strategy.constraints) {
      const { contextName, operator, inverted } = constraint;
      output.line(`    ${mark(holds)} ${String(contextName)} ${inverted === true ? 'not ' : ''}${String(operator)}`);
    }
  }
}

function splitProperty(text: string): [string, string] {
  const place = text.indexOf('=');
  return place < 0 ? [text, ''] : [text.slice(0, place), text.slice(place + 1)];
}

function mark(holds: boolean): string {
  return holds ? '✓' : '✗';
}
