// The options of functions, from the types of their arguments; the variables of the reference server.
import ts from 'typescript';
import { amount, code, phrase, table } from './markdown.mjs';
import { docstringOf, parse } from './source.mjs';

const DEFAULT = /\bDefault:\s(.*?)\.(?=\s|$)\s*/s;

/** The calls that take the same options, their packages, and the type. */
const SECTIONS = [
  [['openFlags(options)'], '@flags/core', 'packages/core/src/options.ts', 'FlagsOptions'],
  [
    ['sqliteStorage(path)', 'sqliteStorage(options)'],
    '@flags/core/sqlite',
    'packages/core/src/storage/sqlite/options.ts',
    'SqliteStorageOptions',
  ],
  [
    ['postgresStorage(url)', 'postgresStorage(options)'],
    '@flags/postgres',
    'packages/postgres/src/options.ts',
    'PostgresStorageOptions',
  ],
  [
    ['createFlagsRouter(flags, options)', 'createFlagsApi(flags, options)'],
    '@flags/express and @flags/http',
    'packages/http/src/options.ts',
    'FlagsApiOptions',
  ],
  [['toNodeHandler(api, options)'], '@flags/http', 'packages/http/src/adapters/node.ts', 'NodeHandlerOptions'],
  [['toFetchHandler(api, options)'], '@flags/http', 'packages/http/src/adapters/fetch.ts', 'FetchHandlerOptions'],
  [
    ['createFlagsUi(options)', 'createFlagsUiFetchHandler(options)'],
    '@flags/ui',
    'packages/ui/src/options.ts',
    'FlagsUiOptions',
  ],
  [
    ['consume(name, handler, options)'],
    '@flags/core',
    'packages/core/src/features/consumers/consumer.types.ts',
    'ConsumeOptions',
  ],
  [['webhook(options)'], '@flags/core/consumers', 'packages/core/src/features/consumers/webhook.ts', 'WebhookOptions'],
  [['slack(url, options)'], '@flags/core/consumers', 'packages/core/src/features/consumers/slack.ts', 'SlackOptions'],
  [['followFlags(options)'], '@flags/follower', 'packages/follower/src/options.ts', 'FollowerOptions'],
  [
    ['createFlagsProvider(flags, options)'],
    '@flags/openfeature',
    'packages/openfeature/src/options.ts',
    'FlagsProviderOptions',
  ],
  [
    ['instrumentFlags(flags, options)'],
    '@flags/opentelemetry',
    'packages/opentelemetry/src/instrument-flags.ts',
    'InstrumentFlagsOptions',
  ],
  [
    ['instrumentStorage(storage, options)'],
    '@flags/opentelemetry',
    'packages/opentelemetry/src/instrument-storage.ts',
    'InstrumentStorageOptions',
  ],
];

export function options() {
  const sections = SECTIONS.map(([calls, packages, file, type]) => {
    const names = [...new Set(calls.map((call) => call.replace(/\(.*/, '')))];
    const intro = `${calls.map(code).join(' and ')} of ${packages.split(' and ').map(code).join(' and ')}.`;
    return `## ${names.join(' and ')}\n\n${intro}\n\n${table(['Option', 'Type', 'Default', 'Meaning'], rowsOfType(file, type))}`;
  });
  return `# Options

What each function takes, with the defaults. An unknown option or a value of the wrong type is refused.

${sections.join('\n')}
## The reference server

The environment variables of [\`examples/server\`](../../examples/server/README.md). Empty ones count as absent.

${table(
  ['Variable', 'Default', 'Meaning'],
  rowsOfType('examples/server/src/config.ts', 'ServerVariables').map(([name, , ...cells]) => [name, ...cells]),
)}`;
}

function rowsOfType(file, type) {
  const source = parse(file);
  const declaration = typeNamed(source, type);
  if (declaration === undefined) throw new Error(`${file} has no type ${type}.`);
  const members = membersOf(declaration, source);
  const required = members.filter(({ questionToken }) => !questionToken).map((member) => member.name.getText());
  // Alternatives of a union, of which one is required.
  const others = (name) => required.filter((other) => other !== name).map((other) => `, or \`${other}\``);
  const requiredOf = (name) => `required${ts.isTypeAliasDeclaration(declaration) ? others(name).join('') : ''}`;
  return members.flatMap((member) => rowsOf(member, { requiredOf }));
}

function typeNamed(source, name) {
  const isType = (one) => ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one);
  return source.statements.find((one) => isType(one) && one.name.text === name);
}

/** Returns the members of a type: those that the type itself states, then those of the interfaces that it names. */
function membersOf(node, source) {
  const parts = partsOf(node);
  const own = parts.filter((part) => ts.isTypeLiteralNode(part) || ts.isInterfaceDeclaration(part));
  const named = new Set(parts.filter(ts.isTypeReferenceNode).map((part) => part.typeName.getText()));
  const others = [...named].flatMap((name) => membersOf(typeNamed(source, name), source));
  return [...own.flatMap((part) => [...part.members]), ...others];
}

function partsOf(node) {
  if (ts.isTypeAliasDeclaration(node) || ts.isParenthesizedTypeNode(node)) return partsOf(node.type);
  return ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node) ? node.types.flatMap(partsOf) : [node];
}

/** A group of options has a row for each member. */
function rowsOf(member, { group = '', requiredOf }) {
  const name = `${group}${member.name.getText()}`;
  if (ts.isTypeLiteralNode(member.type))
    return member.type.members.flatMap((one) => rowsOf(one, { group: `${name}.`, requiredOf }));
  const type = member.type
    .getText()
    .replaceAll(/\breadonly /g, '')
    .replace(/ \| undefined$/, '');
  const text = docstringOf(member);
  const fallback = DEFAULT.exec(text)?.[1] ?? (member.questionToken ? 'none' : requiredOf(name));
  return [[code(name), code(type), withUnit(fallback, text), phrase(text.replace(DEFAULT, '').trim())]];
}

/** A number of milliseconds, also in larger units. */
function withUnit(text, meaning) {
  const value = Number(text.replaceAll(',', ''));
  return /\bmilliseconds\b/i.test(meaning) && value > 0 ? amount(value, 'Milliseconds') : text;
}
