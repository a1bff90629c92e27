import type { Change, StrategyInput, StrategyRef } from '@flags/core';
import { describeSteps, rolloutTo } from '@flags/core/admin';
import type { FlagDetail, Rollout, RolloutPage } from '@flags/http/wire';
import { type Command, Option } from 'commander';
import { CommandError, type CommandIo, usageError } from '../output.js';
import { RUNS_ELSEWHERE, withWays } from '../request-ways.js';
import { applyReviewed } from '../review.js';
import { describeProgress, progressOf, stateOf } from '../rollout-words.js';
import { type CommandSession, type CommonOptions, createAction, environmentOf, findFlag, readAll } from '../session.js';
import { durationOf } from '../times.js';
import { readFlag, stateIn } from './flags.js';

const STATES = { running: true, waiting: true, paused: true } satisfies Record<Rollout['state'], true>;

interface ListOptions extends CommonOptions {
  readonly state?: Rollout['state'];
  readonly flag?: string;
}

/** What can be done with a strategy that rolls out: the change, and the option for it. */
const ACTIONS = {
  pause: { text: 'pause the rollout', change: (ref) => ({ op: 'pauseRollout', ref }) },
  resume: { text: 'resume the paused rollout', change: (ref) => ({ op: 'resumeRollout', ref }) },
  // Names the step, so that a repeated request advances once.
  advance: {
    text: 'take the next step',
    change: (ref, { step }) => ({ op: 'advanceRollout', ref, input: { step: step + 1 } }),
  },
  stop: { text: 'end the rollout; the percentage stays', change: (ref) => ({ op: 'stopRollout', ref }) },
  rollback: {
    text: 'end the rollout, with the percentage from before its start',
    change: (ref) => ({ op: 'stopRollout', ref, input: { rollback: true } }),
  },
} satisfies Record<string, { text: string; change: (ref: StrategyRef, rollout: Pick<Rollout, 'step'>) => Change }>;

type RolloutAction = keyof typeof ACTIONS;

const isAction = (name: string): name is RolloutAction => Object.hasOwn(ACTIONS, name);

interface RolloutOptions extends CommonOptions, Partial<Readonly<Record<RolloutAction, boolean>>> {
  readonly every?: string;
  readonly guarded?: boolean;
  readonly strategy?: string;
}

/** Adds the commands for percentages, and for those that change in steps. */
export function addRolloutCommands(program: Command, io: CommandIo): void {
  const rollout = program
    .command('rollout')
    .description('set the percentage of a gradual rollout, or change it in steps')
    .argument('<flag>')
    .argument('[percentages]', '0 to 100; several are steps: 10,50,100; with holds of their own: 10:1d,50:wait,100')
    .option('--every <time>', 'how long a step stays: 30m, 12h, 1d; wait: until you advance the rollout')
    .option('--guarded', 'take steps only where a guard watches; it watches the last one as long as the others')
    .option('--strategy <id>', 'the strategy, if the environment has several');
  for (const [name, { text }] of Object.entries(ACTIONS)) rollout.option(`--${name}`, text);
  withWays(rollout).action(createAction(io, changeRollout));
  program
    .command('rollouts')
    .description('list strategies whose percentage changes in steps')
    .command('list', { isDefault: true })
    .description('list rollouts; they end in the history')
    .addOption(new Option('--state <state>', 'the state').choices(Object.keys(STATES)))
    .option('--flag <flag>', 'only rollouts of this flag')
    .action(createAction(io, listRollouts));
}

async function listRollouts({ api, output, options }: CommandSession<ListOptions>): Promise<void> {
  const { state, flag, project } = options;
  const found = await readAll(api, '/rollouts', { state, flag, project }, ({ rollouts }: RolloutPage) => rollouts);
  output.json(found);
  if (found.length === 0) return output.line(state === undefined ? 'Nothing rolls out.' : `No rollout is ${state}.`);
  output.table(
    ['Flag', 'Environment', 'Steps', 'State', 'Next', 'Author', 'Strategy'],
    found.map((one) => [
      one.ref.flag,
      one.ref.environment,
      progressOf(one),
      stateOf(one),
      one.nextAt ?? '',
      one.author.name,
      one.ref.strategy,
    ]),
  );
}

async function changeRollout(
  session: CommandSession<RolloutOptions>,
  name: string,
  percentages: string | undefined,
): Promise<void> {
  const { options } = session;
  const actions = Object.keys(ACTIONS).filter((one): one is RolloutAction => isAction(one) && options[one] === true);
  const given = [...(percentages === undefined ? [] : [percentages]), ...actions.map((one) => `--${one}`)];
  if (given.length === 0) {
    const ways = Object.keys(ACTIONS).map((one) => `--${one}`);
    throw usageError(`Name a percentage (25), steps (10,50,100 --every 1d), or one of ${ways.join(', ')}.`);
  }
  if (given.length > 1) throw usageError(`Choose one of ${given.join(', ')}.`);
  const [action] = actions;
  if (action !== undefined) return actOnRollout(session, name, action);
  const text = percentages ?? '';
  const isInSteps = /[,:]/.test(text) || options.every !== undefined || options.guarded === true;
  return isInSteps ? startRollout(session, name, text) : setPercentage(session, name, text);
}

async function setPercentage(session: CommandSession<RolloutOptions>, name: string, text: string): Promise<void> {
  const rollout = `${readPercentage(text)}`;
  const { ref, found } = await findGradual(session, name);
  if (!found) {
    await applyReviewed(session, [
      { op: 'addStrategy', ref, input: rolloutTo(name, rollout) },
      { op: 'enable', ref },
    ]);
  } else {
    const { id, rollout: present, ...input } = found;
    if (present) session.output.line(`${name} in ${ref.environment} ${describeProgress(present)}`);
    const replacement = { ...input, parameters: { ...input.parameters, rollout } } as unknown as StrategyInput;
    await applyReviewed(session, [{ op: 'updateStrategy', ref: { ...ref, strategy: `${id}` }, input: replacement }]);
  }
  await showNow(session, name, ref.environment);
}

async function showNow(session: CommandSession, name: string, environment: string): Promise<void> {
  const now = await stateIn(session, await findFlag(session, name), environment);
  session.output.line(`${name} now: ${now}`);
}

function readPercentage(text: string): number {
  const value = Number(text.replace(/%$/, '').trim() || NaN);
  if (Number.isInteger(value) && value >= 0 && value <= 100) return value;
  throw usageError(`A percentage is a whole number from 0 to 100, not ${text || 'empty'}.`);
}

async function startRollout(session: CommandSession<RolloutOptions>, name: string, text: string): Promise<void> {
  const { api, output, options } = session;
  const input = { steps: readSteps(text, options), guarded: options.guarded === true };
  const { ref, found } = await findGradual(session, name);
  const { environment } = ref;
  if (!found) {
    throw usageError(`${name} has no strategy in ${environment}. Add one first: ${commandFor(session, name)} 0`);
  }
  const change = { op: 'startRollout', ref: { ...ref, strategy: `${found.id}` }, input } as const;
  output.line(`Rolls ${name} out in ${environment}: ${describeSteps(input)}`);
  if (!(await applyReviewed(session, [change]))) return;
  await showNow(session, name, environment);
  output.line(`To stop it: ${commandFor(session, name)} --stop, or --rollback`);
  if (api.connection.flags) output.line(RUNS_ELSEWHERE);
}

/** Returns the command with the environment that was named: without it, it would change production. */
function commandFor({ options }: CommandSession<RolloutOptions>, name: string): string {
  return ['flags rollout', name, ...(options.environment ? ['--environment', options.environment] : [])].join(' ');
}

interface Step {
  readonly percentage: number;
  /** Milliseconds; null: until a person advances the rollout. */
  readonly hold: number | null;
}

function readSteps(text: string, { every, guarded }: RolloutOptions): readonly Step[] {
  const usual = every === undefined ? undefined : readHold(every, '--every');
  const items = text.split(',').map((item) => item.trim());
  return items.map((item, index) => {
    const place = item.indexOf(':');
    const percentage = readPercentage(place < 0 ? item : item.slice(0, place));
    if (place >= 0) return { percentage, hold: readHold(item.slice(place + 1), `The hold of ${item}`) };
    // After the last step only a guard has something to do.
    if (index === items.length - 1 && guarded !== true) return { percentage, hold: 0 };
    if (usual !== undefined) return { percentage, hold: usual };
    if (index === items.length - 1) return { percentage, hold: 0 };
    throw usageError(
      `How long does ${item} stay? Add --every 1d, or write ${item}:1d, or ${item}:wait to wait for you.`,
    );
  });
}

function readHold(text: string, what: string): number | null {
  if (text === 'wait') return null;
  const hold = durationOf(text);
  if (hold !== undefined) return hold;
  throw usageError(`${what} must be how long the step stays: 30m, 12h, 1d, or wait, not ${text || 'empty'}.`);
}

async function actOnRollout(
  session: CommandSession<RolloutOptions>,
  name: string,
  action: RolloutAction,
): Promise<void> {
  const { output } = session;
  const { ref, rollout } = await findRolling(session, name);
  output.line(`${name} in ${ref.environment} ${describeProgress(rollout)}`);
  const isUndoable = action === 'advance' || action === 'rollback';
  if (await applyReviewed(session, [ACTIONS[action].change(ref, rollout)], { isUndoable })) {
    const { found } = await findStrategies(session, name, ({ id }) => id === ref.strategy);
    const now = found[0]?.rollout;
    if (now) return output.line(`${name} in ${ref.environment} ${describeProgress(now)}`);
    output.line('The rollout has ended.');
    await showNow(session, name, ref.environment);
  }
}

type StoredStrategy = FlagDetail['environments'][number]['strategies'][number];

/** Finds the strategies of a flag in an environment, those that `--strategy` names and that are wanted. */
async function findStrategies(
  session: CommandSession<RolloutOptions>,
  name: string,
  isWanted: (strategy: StoredStrategy) => boolean,
) {
  const { strategy: id } = session.options;
  const { project, environments } = await readFlag(session, name);
  const environment = await environmentOf(session);
  const strategies = environments.find((one) => one.name === environment)?.strategies ?? [];
  const found = strategies.filter((one) => isWanted(one) && (id === undefined || one.id === id));
  return { ref: { project, flag: name, environment }, strategies, found };
}

/** Finds the strategy of a flag that rolls out in an environment. */
async function findRolling(session: CommandSession<RolloutOptions>, name: string) {
  const { ref, found } = await findStrategies(session, name, ({ rollout }) => rollout !== undefined);
  assertSingle(found, `${name} has several rollouts in ${ref.environment}`);
  const [{ id = '', rollout } = {}] = found;
  if (rollout) return { ref: { ...ref, strategy: id }, rollout };
  throw new CommandError(
    `${name} does not roll out in ${ref.environment}. Start a rollout: ${commandFor(session, name)} 10,50,100 --every 1d`,
  );
}

/** Finds the gradual rollout of a flag in an environment. Undefined if the flag has no strategy there. */
async function findGradual(session: CommandSession<RolloutOptions>, name: string) {
  const wanted = session.options.strategy;
  const { ref, strategies, found } = await findStrategies(session, name, (one) => one.name === 'flexibleRollout');
  assertSingle(found, `${name} has several gradual rollouts in ${ref.environment}`);
  if (found.length === 0 && wanted !== undefined) {
    throw usageError(`${name} has no gradual rollout ${wanted} in ${ref.environment}. Its ids: flags show ${name}`);
  }
  if (found.length === 0 && strategies.length > 0) {
    throw new CommandError(
      `${name} has no gradual rollout in ${ref.environment}, but other strategies. Any one that holds switches it on.`,
    );
  }
  return { ref, found: found[0] };
}

function assertSingle(found: readonly StoredStrategy[], fault: string): void {
  if (found.length < 2) return;
  throw usageError(`${fault}; choose one with --strategy: ${found.map(({ id }) => id).join(', ')}`);
}
