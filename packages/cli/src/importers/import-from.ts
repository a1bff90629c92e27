import type { Definitions } from '@flags/core';
import type { Session } from '@flags/http/wire';
import { isAddress } from '../connection.js';
import { readDocument } from '../definitions.js';
import { CommandError, oneLine, usageError } from '../output.js';
import { type CommandSession, environmentOf, readEnvironments } from '../session.js';
import { importFlagd } from './flagd.js';
import { importFlipper } from './flipper.js';
import { type Imported, type ImportTarget, membersOf } from './importer.js';
import { importUnleash } from './unleash.js';
import { readUnleash } from './unleash-live.js';

const IMPORTERS: Readonly<Record<Source, (document: unknown, target: ImportTarget) => Imported | Promise<Imported>>> = {
  unleash: importUnleash,
  flagd: importFlagd,
  flipper: importFlipper,
};

export const SOURCES = ['unleash', 'flagd', 'flipper'] as const;
export type Source = (typeof SOURCES)[number];

export interface SourceOptions {
  readonly from: Source;
  /** `FROM=TO`. */
  readonly mapEnvironment?: readonly string[];
  readonly sourceToken?: string;
}

/** Reads a file of another product, or its server. Writes a note to standard error for each setting that it cannot convert. */
export async function readFrom(
  session: CommandSession,
  file: string,
  { from, mapEnvironment = [], sourceToken }: SourceOptions,
): Promise<Definitions> {
  const { environments } = await readEnvironments(session.api);
  const mapped = new Map(mapEnvironment.map((pair) => toPair(pair, environments)));
  const { strategies = [] } = await session.api.get<Session>('/session');
  const target: ImportTarget = {
    environments,
    strategies: strategies.map(({ name }) => name),
    environment: await environmentOf(session),
    toEnvironment: (name) => mapped.get(name) ?? (environments.includes(name) ? name : undefined),
  };
  if (isAddress(file) && from !== 'unleash') throw usageError('Only an Unleash server can be read over its API.');
  const document = isAddress(file) ? await readUnleash(file, sourceToken) : await readDocument(session.io, file);
  if (membersOf(document)[from === 'flagd' ? 'flags' : 'features'] === undefined) {
    throw new CommandError(`${file} is not an export of ${from}.`);
  }
  const { definitions, report } = await IMPORTERS[from](document, target);
  for (const sentence of report) session.io.stderr.write(`note: ${oneLine(sentence)}\n`);
  return definitions;
}

function toPair(pair: string, environments: readonly string[]): readonly [string, string] {
  const [from, to, ...rest] = pair.split('=');
  if (!from || !to || rest.length > 0) throw usageError(`--map-environment takes FROM=TO, not ${pair}.`);
  if (environments.includes(to)) return [from, to];
  throw usageError(`There is no environment ${to}; there are: ${environments.join(', ')}.`);
}
