import { switchChanges } from '@flags/core/admin';
import type { FlagDetail } from '@flags/http/wire';
import type { Command } from 'commander';
import { type CommandIo, usageError } from '../output.js';
import { isRequested, withWays } from '../request-ways.js';
import { applyReviewed } from '../review.js';
import { type CommandSession, type CommonOptions, createAction, environmentOf, findFlag } from '../session.js';
import { percent, readFlag } from './flags.js';

/** Adds the commands that change flags. */
export function addChangeCommands(program: Command, io: CommandIo): void {
  withWays(
    program
      .command('create')
      .description('create a flag that is off in every environment')
      .argument('<flag>')
      .option('--description <text>')
      .option('--type <type>', 'release, experiment, operational, kill-switch or permission')
      .option('--label <labels...>', 'labels')
      .option('--owner <owner>'),
  ).action(createAction(io, createFlag, { creates: true }));
  withWays(
    program
      .command('edit')
      .description('change the description, owner, type or labels of a flag')
      .argument('<flag>')
      .option('--description <text>', "'' for none")
      .option('--owner <owner>', "'' for none")
      .option('--type <type>', 'release, experiment, operational, kill-switch or permission')
      .option('--label <labels...>', 'labels to add and to remove: +shop -beta'),
  ).action(createAction(io, editFlag));
  for (const [name, isOn] of [
    ['on', true],
    ['off', false],
  ] as const) {
    withWays(
      program
        .command(name)
        .description(isOn ? 'switch a flag on in one environment' : 'switch a flag off in one environment')
        .argument('<flag>'),
    ).action(createAction(io, (session, flag: string) => switchFlag(session, flag, isOn)));
  }
  withWays(
    program
      .command('variants')
      .description('show the variants of a flag, or set them')
      .argument('<flag>')
      .argument('[variants...]', 'names with weights in percent: red=25 blue=75, or names alone for equal weights')
      .option('--clear', 'remove all variants'),
  ).action(createAction(io, changeVariants));
}

interface NewFlagOptions extends CommonOptions {
  readonly description?: string;
  readonly type?: string;
  readonly label?: readonly string[];
  readonly owner?: string;
}

async function createFlag(session: CommandSession<NewFlagOptions>, name: string): Promise<void> {
  const { project = 'default', description, type, label, owner } = session.options;
  const input = {
    name,
    ...(description !== undefined && { description }),
    ...(type !== undefined && { type }),
    ...(label !== undefined && { labels: label }),
    ...(owner !== undefined && { owner }),
  };
  await applyReviewed(session, [{ op: 'createFlag', ref: { project }, input }]);
}

/**
 * Attaches the labels of `flags edit FLAG --label +shop -beta` to their option, because `-beta` would be read as an
 * option of its own.
 */
export function attachLabels(args: readonly string[]): readonly string[] {
  if (!args.includes('edit')) return args;
  let isLabel = false;
  return args.flatMap((arg, index) => {
    isLabel = arg === '--label' || (isLabel && SIGNED.test(arg));
    if (arg === '--label') return SIGNED.test(args[index + 1] ?? '') ? [] : arg;
    return isLabel ? `--label=${arg}` : arg;
  });
}

const SIGNED = /^([+]|-(?!-))./;

async function editFlag(session: CommandSession<NewFlagOptions>, name: string): Promise<void> {
  const { description, owner, type, label = [] } = session.options;
  const input = {
    ...(description !== undefined && { description: description || null }),
    ...(owner !== undefined && { owner: owner || null }),
    ...(type !== undefined && { type }),
  };
  const isEdited = Object.keys(input).length > 0;
  if (!isEdited && label.length === 0) {
    throw usageError('Name a change: --description, --owner, --type, or --label +ADDED -REMOVED.');
  }
  const { add, remove } = toLabelChanges(label);
  const { project } = await findFlag(session, name);
  const path = `/projects/${project}/features/${name}`;
  const { state, revision } = await session.api.getRevised<Pick<FlagDetail, 'labels'>>(path);
  const labels = [...new Set([...state.labels, ...add])].filter((one) => !remove.includes(one));
  const changed = { ...input, ...(label.length > 0 && { labels }) };
  // Labels are replaced as a whole, so the change expects the ones that were read.
  const isExpected = label.length > 0 || !isRequested(session.options);
  const expected = isExpected && { ifRevision: revision };
  await applyReviewed(session, [{ op: 'updateFlag', ref: { project, flag: name }, input: changed, ...expected }]);
}

function toLabelChanges(labels: readonly string[]): { readonly add: string[]; readonly remove: string[] } {
  const unsigned = labels.find((label) => !SIGNED.test(label));
  if (unsigned !== undefined) {
    throw usageError(`--label takes +NAME to add a label, and -NAME to remove it, not ${unsigned}.`);
  }
  const withSign = (sign: string) => labels.filter((label) => label.startsWith(sign)).map((label) => label.slice(1));
  const [add, remove] = [withSign('+'), withSign('-')];
  const both = add.find((label) => remove.includes(label));
  if (both !== undefined) throw usageError(`--label adds and removes ${both}. Name it once.`);
  return { add, remove };
}

/** Turns a flag on or off. Adds a rollout to everybody if it has no strategy, because it could not be on otherwise. */
async function switchFlag(session: CommandSession, name: string, isOn: boolean): Promise<void> {
  const { project, environments } = await findFlag(session, name);
  const environment = await environmentOf(session);
  const ref = { project, flag: name, environment };
  const { strategyCount = 1 } = environments.find((one) => one.name === environment) ?? {};
  await applyReviewed(session, switchChanges(ref, { enabled: isOn, strategyCount }));
}

interface VariantsOptions extends CommonOptions {
  readonly clear?: boolean;
}

async function changeVariants(
  session: CommandSession<VariantsOptions>,
  name: string,
  variants: readonly string[],
): Promise<void> {
  const { output, options } = session;
  const { clear = false } = options;
  const { project, variants: current } = await readFlag(session, name);
  if (clear && variants.length > 0) throw usageError('Name variants, or --clear, but not both.');
  if (variants.length === 0 && !clear) {
    output.json(current ?? []);
    if (!current?.length) return output.line(`${name} has no variants.`);
    output.table(
      ['Variant', 'Weight'],
      (current ?? []).map((one) => [one.name, percent(one.weight)]),
    );
    return;
  }
  const input = variants.map((text) => {
    const [variant = '', weight] = text.split('=');
    if (weight === undefined) return { name: variant, weightType: 'variable' as const };
    const value = Number(weight.replace(/%$/, '')) * 10;
    if (weight === '' || !Number.isInteger(value))
      throw usageError(`${text}: a weight is a percentage with at most one decimal.`);
    return { name: variant, weightType: 'fix' as const, weight: value };
  });
  const repeated = input.find(({ name: one }, index) => input.findIndex((other) => other.name === one) !== index);
  if (repeated) throw usageError(`The variant ${repeated.name} is named twice.`);
  const isAllFixed = input.length > 0 && input.every(({ weightType }) => weightType === 'fix');
  const sum = input.reduce((total, { weight = 0 }) => total + weight, 0);
  if (isAllFixed && sum !== 1000) throw usageError(`The weights are ${sum / 10} % together, and must be 100 %.`);
  // One variant must be variable: it gets the remaining weight.
  const weighted = isAllFixed
    ? input.map((one, index) => (index === 0 ? { name: one.name, weightType: 'variable' as const } : one))
    : input;
  await applyReviewed(session, [{ op: 'setVariants', ref: { project, flag: name }, input: weighted }]);
}
