import type { Definitions, VariantInput } from '@flags/core';
import type { DefaultFlagType } from '@flags/core/types';
import { type Command, Option } from 'commander';
import { stringify } from 'yaml';
import {
  type ApplyChoices,
  applyDocument,
  assertDefinitions,
  planDocument,
  readDocument,
} from '../definition-documents.js';
import { countOf, readFrom, SOURCES, type SourceOptions } from '../importers/import-from.js';
import { type CommandIo, EXIT } from '../output.js';
import { BYPASS } from '../request-ways.js';
import { type CommandSession, type CommonOptions, createAction, readEnvironments } from '../session.js';

type ImportOptions = CommonOptions & ApplyChoices;

/** Adds the commands for flags as code: `export`, `import`, `plan`, `apply` and `types`. */
export function addDefinitionCommands(program: Command, io: CommandIo): void {
  program
    .command('export')
    .description('print projects, segments and flags as one document')
    .addOption(new Option('--format <format>', 'format of the document').choices(['yaml', 'json']).default('yaml'))
    .action(createAction(io, writeExport));
  program
    .command('plan')
    .description('show what a document would change; exit code 2 if there are changes')
    .argument('<file>', 'YAML or JSON; - for standard input')
    .option('--prune', 'archive flags that the document does not contain, and revive those that it contains')
    .option('--markdown', 'print the changes as a fenced block of Markdown, for a comment')
    .action(
      createAction(io, async (session: CommandSession<ImportOptions>, file: string) => {
        const plan = await planDocument(session, await readDefinitions(io, file), session.options);
        session.output.json({ changed: false, ...plan });
        if (plan.differences.length > 0) program.setOptionValue('exitCode', EXIT.changes);
      }),
    );
  program
    .command('apply')
    .description('change the flags to match a document')
    .argument('<file>', 'YAML or JSON; - for standard input')
    .option('--prune', 'archive flags that the document does not contain, and revive those that it contains')
    .option('--markdown', 'print the changes as a fenced block of Markdown, for a comment')
    .option(...BYPASS)
    .action(
      createAction(
        io,
        async (session: CommandSession<ImportOptions>, file: string) =>
          applyDocument(session, await readDefinitions(io, file), session.options),
        { creates: true },
      ),
    );
  program
    .command('import')
    .description('import a document, also of another product; keep flags that it does not contain')
    .argument('<file>', 'YAML or JSON; - for standard input; the address of an Unleash server')
    .addOption(new Option('--from <product>', 'the product that exported the file').choices(SOURCES))
    .option('--source-token <token>', 'admin token of the Unleash server (UNLEASH_TOKEN)', io.env.UNLEASH_TOKEN)
    .option('--map-environment <pairs...>', 'environment names in the file and in the store: default=production')
    .option('--prune', 'archive flags that the document does not contain, and revive those that it contains')
    .option(...BYPASS)
    .action(
      createAction(
        io,
        async (session: CommandSession<ImportOptions & Partial<SourceOptions>>, file: string) => {
          const { from, ...options } = session.options;
          if (!from) return applyDocument(session, await readDefinitions(io, file), options);
          const { definitions, leftOut } = await readFrom(session, file, { ...options, from });
          await applyDocument(session, definitions, options);
          if (leftOut.length > 0) io.stderr.write(`${countOf(leftOut)}\n`);
        },
        { creates: true },
      ),
    );
  program
    .command('types')
    .description('print the source of a typed schema')
    .action(
      createAction(io, async (session) =>
        session.output.raw(
          toSchemaSource(await exportFrom(session), (await readEnvironments(session.api)).environments),
        ),
      ),
    );
}

async function readDefinitions(io: CommandIo, file: string): Promise<Definitions> {
  const document = await readDocument(io, file);
  assertDefinitions(document, file);
  return document;
}

function exportFrom({ api, options: { project } }: CommandSession): Promise<Definitions> {
  return api.get('/export', { project });
}

interface ExportOptions extends CommonOptions {
  readonly format: 'yaml' | 'json';
}

async function writeExport(session: CommandSession<ExportOptions>): Promise<void> {
  const { output, options } = session;
  const document = await exportFrom(session);
  const isJson = options.format === 'json' || output.isJson;
  output.raw(isJson ? `${JSON.stringify(document, null, 2)}\n` : stringify(document, { aliasDuplicateObjects: false }));
}

/** The flag types that a schema may name without an option. The record type requires an entry for each. */
const BUILT_IN_TYPES: Readonly<Record<DefaultFlagType, true>> = {
  release: true,
  experiment: true,
  operational: true,
  'kill-switch': true,
  permission: true,
};

/** Returns the TypeScript source that declares the flags of a store. */
function toSchemaSource({ flags = [] }: Definitions, environments: readonly string[]): string {
  const live = flags.filter(({ archived }) => archived !== true);
  const declarations = live.map(({ name, type, description, project, variants = [] }) => {
    const members = {
      ...(type !== undefined && { type }),
      ...(description && { description }),
      ...(project !== undefined && project !== 'default' && { project }),
      ...(variants.length > 0 && { variants: describeVariants(variants) }),
    };
    return `    ${toKey(name)}: ${toSource(members)},\n`;
  });
  const types = [...new Set(live.flatMap(({ type }) => type ?? []))].sort();
  const isBuiltIn = types.every((type) => Object.hasOwn(BUILT_IN_TYPES, type));
  const options = { environments, ...(!isBuiltIn && { types }) };
  return `import { defineFlags } from '@flags/core';

export const schema = defineFlags(
  {
${declarations.join('')}  },
  ${toSource(options)},
);
`;
}

function describeVariants(variants: readonly VariantInput[]): unknown {
  if (variants.every(({ payload }) => payload === undefined)) return variants.map(({ name }) => name);
  return new Map(variants.map(({ name, payload }) => [name, payload ? describePayload(payload) : null]));
}

function describePayload({ type, value }: NonNullable<VariantInput['payload']>): unknown {
  if (type === 'number') return 'number';
  if (type !== 'json') return 'string';
  return describeValue(JSON.parse(value)) ?? null;
}

/** Returns undefined for a value without a type, such as null. */
function describeValue(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return typeof value;
  if (Array.isArray(value)) {
    const types = new Set(value.map((item) => typeof item));
    const [type] = types;
    return types.size === 1 && (type === 'string' || type === 'number' || type === 'boolean') ? `${type}[]` : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const members = Object.entries(value).map(([name, member]) => [name, describeValue(member)] as const);
  return new Map(members.filter(([, description]) => description !== undefined));
}

/** Writes a value as TypeScript. Maps are objects, whose keys may be `__proto__`. */
function toSource(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toSource).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return toText(value);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  if (entries.length === 0) return '{}';
  return `{ ${entries.map(([name, member]) => `${toKey(name)}: ${toSource(member)}`).join(', ')} }`;
}

function toText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  const inner = JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`;
}

function toKey(name: string): string {
  if (name === '__proto__') return `['__proto__']`;
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : toText(name);
}
