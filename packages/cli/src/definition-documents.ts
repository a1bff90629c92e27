import { readFile } from 'node:fs/promises';
import { buffer as readBuffer } from 'node:stream/consumers';
import { type Definitions, type ImportResult, isFlagsError } from '@flags/core';
import type { ApprovalPolicy, ImportedDifference } from '@flags/core/types';
import type { RolloutPage, Session } from '@flags/http/wire';
import { parse as parseYaml } from 'yaml';
import { reasonOf } from './connection.js';
import { isTooLarge, MAX_BODY, planInParts, sizeOf } from './definition-parts.js';
import { CommandError, type CommandIo, usageError } from './output.js';
import { describeRefusal } from './refusal-words.js';
import { confirmPlan, describeEnd, type Effects, type ShowChoices, showPlan } from './review.js';
import { type CommandSession, readAll } from './session.js';

/** Reads a YAML or JSON file; `-` is the standard input. */
export async function readDocument({ stdin }: CommandIo, file: string): Promise<unknown> {
  let source: string;
  try {
    source = decode(file === '-' ? await readBuffer(stdin) : await readFile(file));
  } catch (error) {
    if (Object(error).code === 'ENOENT') throw new CommandError(`There is no file ${file}.`);
    throw new CommandError(`${file} cannot be read: ${reasonOf(error)}`);
  }
  try {
    return /^\s*[{[]/.test(source) ? JSON.parse(source) : parseYaml(source, { maxAliasCount: 100 });
  } catch (error) {
    if (Object(error).code === 'MULTIPLE_DOCS') {
      throw new CommandError(
        `${file} has several YAML documents. Put each into a file of its own, without lines of "---".`,
      );
    }
    throw new CommandError(`${file} is not valid YAML or JSON: ${reasonOf(error)}`);
  }
}

/** Windows PowerShell writes UTF-16, and editors may begin a file with a byte-order mark. */
function decode(bytes: Buffer): string {
  const [first, second] = bytes;
  const isLittle = first === 0xff && second === 0xfe;
  const isBig = first === 0xfe && second === 0xff;
  return new TextDecoder(isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8').decode(bytes);
}

export interface ApplyChoices extends ShowChoices {
  readonly prune?: boolean;
}

interface DocumentPlan extends Pick<ImportResult, 'differences' | 'rollouts' | 'approval'>, Partial<Effects> {
  /** The documents to import, one after the other: usually the whole document. */
  readonly parts: readonly Definitions[];
}

async function planImport(session: CommandSession, definitions: Definitions, prune: boolean): Promise<DocumentPlan> {
  const { api } = session;
  // Only a server limits the request.
  if (api.connection.flags || sizeOf(definitions) <= MAX_BODY) {
    try {
      const plan = await api.post<ImportResult>('/import', { definitions, prune, dryRun: true });
      return { ...plan, parts: [definitions] };
    } catch (error) {
      if (!isTooLarge(error)) throw error;
    }
  }
  return planOnCopy(session, definitions, prune);
}

/** Plans on a copy of the store. */
async function planOnCopy({ api }: CommandSession, document: Definitions, prune: boolean): Promise<DocumentPlan> {
  const { environments, types, roles } = await api.get<Session>('/session');
  const settings = {
    ...(environments && { environments: environments.map(({ name }) => ({ name })) }),
    ...(types && { flagTypes: types }),
    ...(roles && { roles }),
  };
  try {
    const { environments: policy } = await api.get<ApprovalPolicy>('/approval-policy');
    const rollouts = await readAll(api, '/rollouts', {}, (page: RolloutPage) => page.rollouts);
    const beside = { rollouts, policy: { environments: policy } };
    return await planInParts(settings, await api.get<Definitions>('/export'), { document, prune, beside });
  } catch (error) {
    if (!isFlagsError(error)) throw error;
    throw new CommandError(describeRefusal(error.message, error.details));
  }
}

/** Shows the changes of a document, in the words of the other commands. */
export async function planDocument(
  session: CommandSession,
  document: Definitions,
  { prune = false, ...choices }: ApplyChoices = {},
): Promise<Omit<DocumentPlan, 'parts'>> {
  const { parts, ...planned } = await planImport(session, document, prune);
  const { differences, rollouts, approval = null } = planned;
  showParts(session, parts);
  const effects = await showPlan(session, { ...planned, documents: differences, notes: notesOf(planned) }, choices);
  return { differences, rollouts, ...effects, approval };
}

function showParts({ output }: CommandSession, { length }: readonly Definitions[]): void {
  if (length > 1) output.line(`Too large for one change set: sent in ${length} parts, each a change set of its own.`);
}

/** Shows the changes of a document, asks for a confirmation if necessary, and imports the document. */
export async function applyDocument(
  session: CommandSession,
  document: Definitions,
  { prune = false, ...choices }: ApplyChoices = {},
): Promise<void> {
  const { api, output, options } = session;
  const planned = await planImport(session, document, prune);
  const { parts, differences, rollouts, effects, hiddenEffects = 0 } = planned;
  const json = { changeSets: [], differences, rollouts, effects, hiddenEffects };
  const review = { documents: differences, subjects: archivedIn(differences), notes: notesOf(planned), advice: ADVICE };
  showParts(session, parts);
  if (!(await confirmPlan(session, { ...planned, ...review, json }, choices))) return;
  const { reason, bypassApproval } = options;
  const changeSets: NonNullable<ImportResult['changeSet']>[] = [];
  for (const definitions of parts) {
    const body = { definitions, prune: prune && definitions === document, ...(reason !== undefined && { reason }) };
    const { changeSet } = await api.change<ImportResult>('/import', body, { bypassApproval });
    if (changeSet) changeSets.push(changeSet);
  }
  output.json({ changed: changeSets.length > 0, changeSets, differences, rollouts });
  const ids = changeSets.map(({ id }) => id).reverse();
  output.line(output.colors.green(`Changed. To undo it: ${ids.map((id) => `flags undo ${id}`).join('; ')}`));
}

/** A change request cannot contain a document of definitions. */
const ADVICE =
  'Request the changes by commands with --request, or import with --bypass-approval REASON if you may do without.';

/** Says which rollouts the document ends, and which percentages it leaves alone. */
function notesOf({ differences, rollouts }: Pick<DocumentPlan, 'differences' | 'rollouts'>): readonly string[] {
  const ended = differences.flatMap(({ id: flag, parts }) =>
    parts.flatMap(({ path, after }) => {
      const [, environment] = /^\/environments\/([^/]*)\/rollouts(?:\/[^/]*)?$/.exec(path) ?? [];
      return environment !== undefined && after === null ? [describeEnd({ flag, environment })] : [];
    }),
  );
  const left = rollouts.map(({ flag, environment }) => {
    return `leaves the percentage of ${flag} in ${environment} alone: it rolls out`;
  });
  return [...new Set([...ended, ...left])];
}

/** Returns the flags that a document archives: the question names them, as it names deletions. */
function archivedIn(differences: readonly ImportedDifference[]): readonly string[] {
  return differences
    .filter(({ parts }) => parts.some(({ path, after }) => path === '/archived' && after === true))
    .map(({ kind, id }) => `${kind} ${id}`);
}

/** Throws unless a file has the members of definitions. The server validates the rest. */
export function assertDefinitions(document: unknown, file: string): asserts document is Definitions {
  const { version, features } = Object(document) as { readonly version?: unknown; readonly features?: unknown };
  if (features !== undefined) {
    throw usageError(`${file} is an export of Unleash. Import it by: flags import ${file} --from unleash`);
  }
  if (version === 1) return;
  throw usageError(
    `${file} has no "version: 1". For a file of another product, name it: --from unleash, flagd or flipper.`,
  );
}
