import type { Rollout, RolloutPage } from '@flags/http/wire';
import { type Command, Option } from 'commander';
import { type CommandIo, showPlanned, usageError } from '../output.js';
import { assertWays, BYPASS, confirmOrRefuse, PROPOSE, propose } from '../review.js';
import { type CommandSession, type CommonOptions, inSession } from '../session.js';
import { findGradual } from './changes.js';

const ACTIVE = ['running', 'waiting', 'paused'] as const;
const STATES = [...ACTIVE, 'done', 'ended', 'rolled-back'] as const;

/** The states to ask for, one after the other. Undefined: any. */
const STATES_OF: Readonly<Record<string, readonly (string | undefined)[]>> = { active: ACTIVE, all: [undefined] };

interface ListOptions extends CommonOptions {
  readonly state: (typeof STATES)[number] | 'active' | 'all';
  readonly flag?: string;
}

interface StartOptions extends CommonOptions {
  readonly strategy?: string;
  readonly guarded?: boolean;
}

interface StopOptions extends CommonOptions {
  readonly rollback?: boolean;
}

/** Adds the commands for percentages that change in steps. */
export function addRolloutCommands(program: Command, io: CommandIo): void {
  const rollouts = program.command('rollouts').description('change percentages in steps');
  rollouts
    .command('list', { isDefault: true })
    .description('list rollouts')
    .addOption(new Option('--state <state>', 'the state').choices([...STATES, 'active', 'all']).default('active'))
    .option('--flag <flag>', 'only rollouts of this flag')
    .action(inSession(io, listRollouts));
  rollouts
    .command('start')
    .description('start a rollout; its first step is taken at once')
    .argument('<flag>')
    .argument('<steps...>', 'PERCENTAGE:HOLD, such as 5:1d 25:12h 60:wait 100; units: s, m, h, d')
    .option('--strategy <id>', 'the strategy, if the environment has several gradual rollouts')
    .option('--guarded', 'take steps only where a guard watches')
    .option(...PROPOSE)
    .option(...BYPASS)
    .action(inSession(io, startRollout));
  const move = (name: 'pause' | 'resume', description: string) =>
    rollouts
      .command(name)
      .description(description)
      .argument('<id>')
      .action(inSession(io, (session: CommandSession, id: string) => moveRollout(session, id, { name })));
  move('pause', 'pause a rollout, whose hold runs on');
  move('resume', 'resume a paused rollout');
  rollouts
    .command('advance')
    .description('take the next step now')
    .argument('<id>')
    .option(...BYPASS)
    .action(inSession(io, advanceRollout));
  rollouts
    .command('stop')
    .description('end a rollout; the percentage stays')
    .argument('<id>')
    .option('--rollback', 'restore the percentage from before the start')
    .action(inSession(io, stopRollout));
}

async function listRollouts({ api, output, options }: CommandSession<ListOptions>): Promise<void> {
  const { state, flag, project } = options;
  const found: Rollout[] = [];
  for (const one of STATES_OF[state] ?? [state]) {
    for (let after: string | undefined; ; ) {
      const query = { state: one, flag, project, limit: 1000, after };
      const page: RolloutPage = await api.get<RolloutPage>('/rollouts', query);
      found.push(...page.rollouts);
      after = page.next;
      if (after === undefined) break;
    }
  }
  output.json(found);
  if (found.length === 0) return output.line(state === 'all' ? 'There are no rollouts.' : `No rollout is ${state}.`);
  output.table(
    ['Flag', 'Environment', 'Step', 'State', 'Next', 'Author', 'Reason', 'Id'],
    found.map((one) => [
      one.ref.flag,
      one.ref.environment,
      stepsIn(one),
      stateIn(one),
      one.nextAt ?? '',
      one.author.name,
      one.reason ?? '',
      one.id,
    ]),
  );
}

/** Such as `5 → [25] → 100`: the step in brackets is taken. */
function stepsIn({ steps, step }: Rollout): string {
  return steps.map(({ rollout }, index) => (index === step ? `[${rollout}]` : `${rollout}`)).join(' → ');
}

function stateIn({ state, failure, ended }: Rollout): string {
  if (failure !== null) return `${state}: ${failure.code}`;
  return ended === null ? state : `${state}: ${ended.reason}`;
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

interface Step {
  readonly rollout: number;
  readonly hold?: number | null;
}

function readStep(text: string): Step {
  const [, percentage, hold] = /^(\d+(?:\.\d+)?)%?(?::(wait|\d+(?:\.\d+)?[smhd]))?$/.exec(text) ?? [];
  const rollout = Number(percentage);
  if (percentage === undefined || rollout > 100) {
    throw usageError(`A step is PERCENTAGE:HOLD, such as 5:1d, 25:90m or 60:wait, not ${text}.`);
  }
  if (hold === undefined) return { rollout };
  return {
    rollout,
    hold: hold === 'wait' ? null : Math.round(Number(hold.slice(0, -1)) * (UNITS[hold.slice(-1)] ?? 0)),
  };
}

function readSteps(texts: readonly string[]): readonly Step[] {
  const steps = texts.map(readStep);
  const endless = steps.findIndex(({ hold }, index) => hold === undefined && index < steps.length - 1);
  if (endless < 0) return steps;
  throw usageError(
    `How long does ${texts[endless]} stay? Write ${texts[endless]}:1d, or ${texts[endless]}:wait to wait for you.`,
  );
}

async function startRollout(
  session: CommandSession<StartOptions>,
  name: string,
  texts: readonly string[],
): Promise<void> {
  const { api, output, options } = session;
  assertWays(options);
  const steps = readSteps(texts);
  const { ref, found } = await findGradual(session, name);
  const { environment } = ref;
  if (!found) throw usageError(`${name} has no strategy in ${environment}. Add one first: flags rollout ${name} 0`);
  const { id, parameters } = found;
  const path = [`${parameters?.rollout ?? 0}`, ...steps.map(({ rollout }) => `${rollout}`)].join(' → ');
  const what = `roll ${name} out in ${environment}: ${path} %`;
  if (options.dryRun === true) return showPlanned(output, `Would ${what}.`);
  const rolledOut = { ref: { ...ref, strategy: `${id}` }, steps, guarded: options.guarded === true };
  if (options.propose === true) return propose(session, { rollout: rolledOut });
  await confirmOrRefuse(session, `This will ${what}. Go on?`);
  const { reason, bypassApproval } = options;
  const body = { ...rolledOut, ...(reason !== undefined && { reason }) };
  const rollout = await api.change<Rollout>('/rollouts', body, { bypassApproval });
  output.json({ changed: true, rollout });
  output.line(output.colors.green(`Started. To stop it: flags rollouts stop ${rollout.id}`));
  if (api.connection.flags) output.line('A service on this store with runSchedules: true must take its steps.');
}

interface Move {
  readonly name: 'pause' | 'resume' | 'advance' | 'stop';
  readonly body?: object;
}

const QUESTIONS = { pause: 'Pause', resume: 'Resume', advance: 'Take the next step of', stop: 'Stop' };

async function moveRollout(session: CommandSession, id: string, { name, body = {} }: Move): Promise<void> {
  const found = await session.api.get<Rollout>(`/rollouts/${encodeURIComponent(id)}`);
  await confirmMove(session, found, { name, body });
}

/** Names the step, so that a repeated request advances once. */
async function advanceRollout(session: CommandSession, id: string): Promise<void> {
  const found = await session.api.get<Rollout>(`/rollouts/${encodeURIComponent(id)}`);
  await confirmMove(session, found, { name: 'advance', body: { step: found.step + 1 } });
}

async function stopRollout(session: CommandSession<StopOptions>, id: string): Promise<void> {
  await moveRollout(session, id, { name: 'stop', body: { rollback: session.options.rollback === true } });
}

async function confirmMove(session: CommandSession, found: Rollout, { name, body = {} }: Move): Promise<void> {
  const { api, output, options } = session;
  const { ref, startedFrom } = found;
  const isRollback = name === 'stop' && 'rollback' in body && body.rollback === true;
  const what = `the rollout of ${ref.flag} in ${ref.environment}${isRollback ? `, back to ${startedFrom} %` : ''}`;
  if (options.dryRun === true) return showPlanned(output, `Would ${QUESTIONS[name].toLowerCase()} ${what}.`);
  await confirmOrRefuse(session, `${QUESTIONS[name]} ${what}?`);
  const rollout = await api.post<Rollout>(`/rollouts/${encodeURIComponent(found.id)}/${name}`, body, options);
  output.json({ changed: true, rollout });
  output.line(`${ref.flag} in ${ref.environment}: ${stepsIn(rollout)}, ${stateIn(rollout)}.`);
}
