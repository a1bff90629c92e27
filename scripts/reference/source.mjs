// Reads names and docstrings from the sources: the compiled packages have no comments.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export const ROOT = join(import.meta.dirname, '../..');

const parsed = new Map();

export function parse(file) {
  if (!parsed.has(file)) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    parsed.set(file, ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true));
  }
  return parsed.get(file);
}

/** Imports a compiled module by the path of its source. Links between packages lead to the same instances. */
export function load(file) {
  return import(join(ROOT, file.replace('/src/', '/dist/').replace(/\.ts$/, '.js')));
}

/** Returns the docstring of a node as Markdown, without its tags. Throws if there is none and it is required. */
export function docstringOf(node) {
  const texts = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const text = texts.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '').join('\n');
  return text.replaceAll(/\{@link (\w+)\}/g, '`$1`').trim();
}

/** The declaration of a name at the top of a file. */
function declarationOf(file, name) {
  const statements = parse(file).statements.flatMap((statement) =>
    ts.isVariableStatement(statement) ? [...statement.declarationList.declarations] : [statement],
  );
  const found = statements.find((one) => one.name?.text === name);
  if (found === undefined) throw new Error(`${file} has no declaration ${name}.`);
  return found;
}

/** The docstring of a name at the top of a file. */
export function documentationOf(file, name) {
  return docstringOf(declarationOf(file, name));
}

/** The docstrings of the members of an object, by name. Spread objects are left out. */
export function memberDocstrings(file, name) {
  return new Map(propertiesOf(file, name).map((member) => [member.name.text, docstringOf(member)]));
}

/** The value of a constant that is written with literals only. */
export function literalOf(file, name) {
  return Function(`return ${withoutTypes(declarationOf(file, name).initializer).getText()}`)();
}

/** The members of a constant object. */
function propertiesOf(file, name) {
  return withoutTypes(declarationOf(file, name).initializer).properties.filter(ts.isPropertyAssignment);
}

function withoutTypes(node) {
  return ts.isAsExpression(node) || ts.isSatisfiesExpression(node) ? withoutTypes(node.expression) : node;
}

/** The paragraphs of a docstring, each on one line; lists keep their lines. */
export function paragraphsOf(text) {
  return text.split(/\n\s*\n/).map((paragraph) => paragraph.replaceAll(/\n(?!- )\s*/g, ' ').trim());
}

/** The first sentence of a docstring. */
export function firstSentence(text) {
  const [paragraph = ''] = paragraphsOf(text);
  return /^.*?\.(?=\s|$)/s.exec(paragraph)?.[0] ?? paragraph;
}
