import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import {
  createFlags,
  type DefinedFlag,
  type Definitions,
  type ImportResult,
  isFlagsError,
  memoryStorage,
} from '@flags/core';
import type { ImportedDifference } from '@flags/core/types';
import type { Session } from '@flags/http/wire';
import { parse as parseYaml } from 'yaml';
import { describeRefusal, reasonOf } from './connection.js';
import { CommandError, type CommandIo, usageError } from './output.js';
import { confirmPlan, type Effects, type ShowChoices, showPlan } from './review.js';
import type { CommandSession } from './session.js';

/** Reads a YAML or JSON file; `-` is the standard input. */
export async function readDocument({ stdin }: CommandIo, file: string): Promise<unknown> {
  let source: string;
  try {
    source = file === '-' ? await readText(stdin) : await readFile(file, 'utf8');
  } catch (error) {
    if (Object(error).code === 'ENOENT') throw new CommandError(`There is no file ${file}.`);
    throw new CommandError(`${file} cannot be read: ${reasonOf(error)}`);
  }
  try {
    return /^\s*[{[]/.test(source) ? JSON.parse(source) : parseYaml(source, { maxAliasCount: 100 });
  } catch (error) {
    throw new CommandError(`${file} is not valid YAML or JSON: ${reasonOf(error)}`);
  }
}

export interface ApplyChoices extends ShowChoices {
  readonly prune?: boolean;
}

type DocumentPlan = Pick<ImportResult, 'differences'> & Partial<Effects>;

async function planImport(session: CommandSession, definitions: Definitions, prune: boolean): Promise<DocumentPlan> {
  if (!isSmall(definitions)) return planInMemory(session, definitions, prune);
  return session.api.post('/import', { definitions, prune, dryRun: true });
}

/** Shows the changes of a document, in the words of the other commands. */
export async function planDocument(
  session: CommandSession,
  document: Definitions,
  { prune = false, ...choices }: ApplyChoices = {},
): Promise<DocumentPlan> {
  const planned = await planImport(session, document, prune);
  const { differences } = planned;
  return { differences, ...(await showPlan(session, { ...planned, documents: differences }, choices)) };
}

/** Shows the changes of a document, asks for a confirmation if necessary, and imports the document. */
export async function applyDocument(
  session: CommandSession,
  document: Definitions,
  { prune = false, ...choices }: ApplyChoices = {},
): Promise<void> {
  const { api, output, options } = session;
  const planned = await planImport(session, document, prune);
  const { differences, effects, hiddenEffects = 0 } = planned;
  const json = { changeSets: [], differences, effects, hiddenEffects };
  const deletions = archivedIn(differences);
  if (!(await confirmPlan(session, { ...planned, documents: differences, deletions, json }, choices))) return;
  const { reason } = options;
  const rest = reason === undefined ? {} : { reason };
  const changeSets: ImportResult['changeSets'][number][] = [];
  const parts = isSmall(document) ? [document] : toParts(prune ? withPruned(document, differences) : document);
  for (const part of parts) {
    const isWhole = part === document;
    const body = { definitions: part, ...(isWhole && { prune }), ...rest };
    changeSets.push(...(await api.change<ImportResult>('/import', body)).changeSets);
  }
  output.json({ changed: changeSets.length > 0, changeSets, differences });
  const ids = changeSets.map(({ id }) => id).reverse();
  output.line(output.colors.green(`Changed. To undo it: ${ids.map((id) => `flags undo ${id}`).join('; ')}`));
}

/** A request has at most 1 MiB. */
const MAX_BODY = 900_000;

function isSmall(document: unknown): boolean {
  return sizeOf(document) <= MAX_BODY;
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

/** Plans on a copy of the store, because a request cannot hold the document. */
async function planInMemory({ api }: CommandSession, document: Definitions, prune: boolean): Promise<ImportResult> {
  const { environments, types, roles } = await api.get<Session>('/session');
  const current = await api.get<Definitions>('/export');
  const flags = await createFlags({
    storage: memoryStorage(),
    ...(environments && { environments: environments.map(({ name }) => ({ name })) }),
    ...(types && { flagTypes: types }),
    ...(roles && { roles }),
  });
  try {
    await flags.importDefinitions(current);
    return await flags.importDefinitions(document, { dryRun: true, prune });
  } catch (error) {
    if (!isFlagsError(error)) throw error;
    throw new CommandError(describeRefusal(error.message, error.details));
  } finally {
    await flags.close();
  }
}

/** Sets the archived state of every flag, because an import in parts cannot prune. */
function withPruned(document: Definitions, differences: readonly ImportedDifference[]): Definitions {
  const { flags = [] } = document;
  const present = new Set(flags.map(({ name }) => name));
  const absent = differences.filter(({ kind, id }) => kind === 'flag' && !present.has(id));
  const archived = absent.map(({ id }): DefinedFlag => ({ name: id, archived: true }));
  return { ...document, flags: [...flags.map((flag) => ({ archived: false, ...flag })), ...archived] };
}

/** Splits a document. Parents come before children, and flags to archive last. */
function toParts({ projects = [], segments = [], flags = [] }: Definitions) {
  const isChild = ({ dependencies = [] }: DefinedFlag) => dependencies.length > 0;
  const live = flags.filter(({ archived }) => archived !== true);
  const archived = flags.filter((flag) => flag.archived === true);
  const items = [
    ...projects.map((item) => ({ member: 'projects' as const, item })),
    ...segments.map((item) => ({ member: 'segments' as const, item })),
    ...[...live.filter((flag) => !isChild(flag)), ...live.filter(isChild)]
      .concat(
        archived.filter(isChild),
        archived.filter((flag) => !isChild(flag)),
      )
      .map((item) => ({ member: 'flags' as const, item })),
  ];
  const parts: Definitions[] = [];
  let part: { version: 1; projects: unknown[]; segments: unknown[]; flags: unknown[] } | undefined;
  let size = 0;
  for (const { member, item } of items) {
    size += sizeOf(item) + 1;
    if (!part || size > MAX_BODY) {
      part = { version: 1, projects: [], segments: [], flags: [] };
      parts.push(part as unknown as Definitions);
      size = sizeOf(item);
    }
    part[member].push(item);
  }
  return parts;
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
