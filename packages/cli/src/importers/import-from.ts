import type { Definitions } from '@flags/core';
import type { Session } from '@flags/http/wire';
import { isAddress } from '../connection.js';
import { readDocument } from '../definition-documents.js';
import { CommandError, oneLine, usageError } from '../output.js';
import { type CommandSession, environmentOf, readEnvironments } from '../session.js';
import { flagd } from './flagd.js';
import { flipper } from './flipper.js';
import { type Importer, type ImportTarget, Report } from './importer.js';
import { leaveOutRefused } from './left-out.js';
import { unleash } from './unleash.js';
import { readUnleash } from './unleash-live.js';

const IMPORTERS = { unleash, flagd, flipper } as const satisfies Readonly<Record<string, Importer>>;

export type Source = keyof typeof IMPORTERS;
export const SOURCES = Object.keys(IMPORTERS) as Source[];

export interface SourceOptions {
  readonly from: Source;
  /** `FROM=TO`. */
  readonly mapEnvironment?: readonly string[];
  readonly sourceToken?: string;
  readonly prune?: boolean;
}

interface ReadDefinitions {
  readonly definitions: Definitions;
  /** The names of the flags that have no equivalent here. */
  readonly leftOut: readonly string[];
}

/**
 * Reads a file of another product, or its server. Writes a note to standard error for each setting that it cannot
 * convert, and for each flag that is left out.
 *
 * @throws CommandError if the file is not one of the product, or if no flag remains
 */
export async function readFrom(
  session: CommandSession,
  file: string,
  { from, mapEnvironment = [], sourceToken, prune = false }: SourceOptions,
): Promise<ReadDefinitions> {
  const { environments } = await readEnvironments(session.api);
  const mapped = new Map(mapEnvironment.map((pair) => toPair(pair, environments)));
  const { strategies = [] } = await session.api.get<Session>('/session');
  const target: ImportTarget = {
    environments,
    strategies: strategies.map(({ name }) => name),
    environment: await environmentOf(session),
    isNamed: session.options.environment !== undefined,
    toEnvironment: (name) => mapped.get(name) ?? (environments.includes(name) ? name : undefined),
  };
  if (isAddress(file) && from !== 'unleash') throw usageError('Only an Unleash server can be read over its API.');
  const document = isAddress(file) ? await readUnleash(file, sourceToken) : await readDocument(session.io, file);
  const importer: Importer = IMPORTERS[from];
  const refusal = importer.refuse(document, target);
  if (refusal !== undefined) throw new CommandError(`${refusal}.`);
  const report = new Report();
  const definitions = await leaveOutRefused(importer.convert(document, target, report), environments, report);
  for (const sentence of report.sentences) session.io.stderr.write(`note: ${oneLine(sentence)}\n`);
  const { leftOut } = report;
  if (!definitions.flags?.length) {
    throw new CommandError(leftOut.length > 0 ? `No flag is imported. ${countOf(leftOut)}` : `${file} has no flags.`);
  }
  if (prune && leftOut.length > 0) {
    throw new CommandError(`--prune would archive what is left out: import without it. ${countOf(leftOut)}`);
  }
  return { definitions, leftOut };
}

/** Says how many flags are left out. */
export function countOf({ length }: readonly string[]): string {
  return `Left out: ${length} ${length === 1 ? 'flag' : 'flags'}.`;
}

function toPair(pair: string, environments: readonly string[]): readonly [string, string] {
  const [from, to, ...rest] = pair.split('=');
  if (!from || !to || rest.length > 0) throw usageError(`--map-environment takes FROM=TO, not ${pair}.`);
  if (environments.includes(to)) return [from, to];
  throw usageError(`There is no environment ${to}; there are: ${environments.join(', ')}.`);
}
