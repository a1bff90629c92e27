// Keeps the tables of options in the documents the same as the docstrings of the types. A document marks each table by
// `<!-- options: FILE TYPE -->` and `<!-- end of options -->`.
//
//   node scripts/options-table.mjs            fails if a table is out of date
//   node scripts/options-table.mjs --write    writes the tables
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = join(fileURLToPath(import.meta.url), '../..');
const TABLE = /(<!-- options: (\S+) (\w+) -->\n).*?(<!-- end of options -->)/gs;
const DEFAULT = /\bDefault:\s(.*?)\.(?=\s|$)\s*/s;

const documents = execFileSync('git', ['ls-files', 'docs/*.md', 'packages/*/README.md'], {
  cwd: ROOT,
  encoding: 'utf8',
});
const outdated = [];
for (const document of documents.trim().split('\n')) {
  const text = readFileSync(join(ROOT, document), 'utf8');
  const current = text.replaceAll(TABLE, (_, start, file, type, end) => `${start}\n${tableOf(file, type)}\n${end}`);
  if (current === text) continue;
  if (process.argv.includes('--write')) writeFileSync(join(ROOT, document), current);
  else outdated.push(document);
}
if (outdated.length > 0) {
  console.error(`Options have changed: ${outdated.join(', ')}. Run npm run options:write, and review the difference.`);
  process.exitCode = 1;
}

function tableOf(file, type) {
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.ES2023, true);
  const declaration = typeNamed(source, type);
  if (declaration === undefined) throw new Error(`${file} has no type ${type}.`);
  const members = membersOf(declaration, source);
  const required = members.filter(({ questionToken }) => !questionToken).map((member) => member.name.getText());
  // Alternatives of a union, of which one is required.
  const others = (name) => required.filter((other) => other !== name).map((other) => `, or \`${other}\``);
  const requiredOf = (name) => `required${ts.isTypeAliasDeclaration(declaration) ? others(name).join('') : ''}`;
  const rows = members.flatMap((member) => rowsOf(member, { requiredOf }));
  return formatTable([['Option', 'Type', 'Default', 'Meaning'], ...rows]);
}

/** Pads the cells as Biome does. */
function formatTable([head, ...rows]) {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)));
  const rule = widths.map((width) => '-'.repeat(width));
  return [head, rule, ...rows]
    .map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |\n`)
    .join('');
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
  const type = member.type.getText().replaceAll(/\breadonly /g, '');
  const text = docstringOf(member);
  const fallback = DEFAULT.exec(text)?.[1] ?? (member.questionToken ? 'none' : requiredOf(name));
  return [[`\`${name}\``, `\`${type}\``, fallback, text.replace(DEFAULT, '')].map(toCell)];
}

function docstringOf(member) {
  const texts = ts.getJSDocCommentsAndTags(member).map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '');
  return texts.join('\n').replaceAll(/\{@link (\w+)\}/g, '`$1`');
}

function toCell(text) {
  const lines = text
    .trim()
    .replaceAll(/\n+- /g, '<br>• ')
    .replaceAll(/\n{2,}/g, '<br>');
  return lines.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
}
