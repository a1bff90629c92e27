// Checks the names that the packages export:
//
// - Each has a docstring, and each function an example.
// - `@flags/core` exports at most 120 names.
// - Each type that a result contains is exported by an entry that `@flags/core` loads. Otherwise `export const x = await
//   flags.getX()` does not compile in applications that write declarations (TS2883).
import ts from 'typescript';

/** The entries whose names have no stability promise, and whose readers are in this repository. */
const INTERNAL = /\/(core\/dist\/(admin|integration\/\w+)|http\/dist\/replies)\.d\.ts$/;
const CORE = /\/core\/dist\/index\.d\.ts$/;
const MAX_NAMES = 120;

/** Returns one sentence per violation. */
export function checkPublicNames(entries) {
  const program = ts.createProgram(entries, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  const namesOf = (file) => checker.getExportsOfModule(checker.getSymbolAtLocation(file)).map(resolve);
  const resolve = (symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);
  return entries.flatMap((entry) => {
    const file = program.getSourceFile(entry);
    const names = namesOf(file);
    return [
      ...(INTERNAL.test(entry) ? [] : names.flatMap((name) => findUndocumented(name, checker, entry))),
      ...(CORE.test(entry) && names.length > MAX_NAMES ? [`${entry} exports ${names.length} names, at most 120.`] : []),
      ...(CORE.test(entry) ? findUnreachable(checker, names, new Set(loadedBy(program, file).flatMap(namesOf))) : []),
    ];
  });
}

function findUndocumented(symbol, checker, entry) {
  const place = `${entry.replace(/.*\/packages\//, '')}: ${symbol.name}`;
  if (symbol.getDocumentationComment(checker).length === 0) return [`${place} has no docstring.`];
  const isFunction = (symbol.flags & ts.SymbolFlags.Function) !== 0;
  const hasExample = symbol.getJsDocTags(checker).some((tag) => tag.name === 'example');
  return isFunction && !hasExample ? [`${place} is a function without an example.`] : [];
}

/** The entry and the entries that it re-exports from: those beside it. */
function loadedBy(program, file) {
  const folder = file.fileName.replace(/[^/]*$/, '');
  const beside = [...file.text.matchAll(/from '\.\/(storage|types)\.js'/g)].map(([, name]) => `${folder}${name}.d.ts`);
  return [file, ...beside.map((name) => program.getSourceFile(name))];
}

/** Walks through the members and results of the exported types. */
function findUnreachable(checker, names, exported) {
  const found = new Set();
  const seen = new Set();
  const isOurs = (symbol) =>
    symbol.declarations?.some((one) => one.getSourceFile().fileName.includes('/packages/core/dist/'));

  function walk(type, path) {
    for (const symbol of [type.aliasSymbol, type.symbol]) {
      const isNamed =
        symbol && symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class | ts.SymbolFlags.TypeAlias);
      if (isNamed && isOurs(symbol) && !exported.has(symbol)) found.add(`${symbol.name} (${path}) is not exported.`);
    }
    if (seen.has(type)) return;
    seen.add(type);
    for (const part of type.types ?? []) walk(part, path);
    if (!(type.flags & ts.TypeFlags.Object)) return;
    for (const argument of checker.getTypeArguments(type)) walk(argument, path);
    if (type.symbol && !isOurs(type.symbol)) return;
    for (const signature of type.getCallSignatures()) walk(signature.getReturnType(), path);
    for (const property of type.getProperties()) {
      if (!property.name.startsWith('__@')) walk(checker.getTypeOfSymbol(property), `${path}.${property.name}`);
    }
  }
  for (const name of names) {
    const isValue = name.flags & ts.SymbolFlags.Value;
    const type =
      isValue && !(name.flags & ts.SymbolFlags.Class)
        ? checker.getTypeOfSymbol(name)
        : checker.getDeclaredTypeOfSymbol(name);
    walk(type, name.name);
  }
  return [...found];
}
