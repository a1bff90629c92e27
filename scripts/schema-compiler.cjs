// Compiles JSON Schemas to the text of a module of functions, so that nothing compiles code from strings at run time.
//
// Ajv generates the code. Its errors are rewritten to calls: the words of each message are known here, so that the functions
// hold no schema; and `run.add` can stop a function that has found enough. Parts that occur twice become one function.
const { createRequire } = require('node:module');
const { join } = require('node:path');

// The package that validates has Ajv. Where only its dependencies at run time are installed, the root has it.
const requireFromCore = createRequire(join(__dirname, '../packages/core/package.json'));
const { Ajv, _ } = requireFromCore('ajv');
const standalone = requireFromCore('ajv/dist/standalone').default;

/** `validateSchema`: the schemas are our own. `inlineRefs`: shared parts are functions. */
const OPTIONS = { allErrors: true, allowUnionTypes: true, validateSchema: false, meta: false, inlineRefs: false };

/** How esbuild shortens the code: nobody reads it, and Node parses it at each start. Functions keep their names. */
const SHORTER = { minifySyntax: true, minifyIdentifiers: true };

/**
 * Returns the code of functions that validate: declarations; an object of the functions by the names of the schemas; and what
 * exports each function whose name is a word, so that a bundle has those only that its program uses.
 *
 * @param schemas plain JSON, by name
 */
function compileSchemas(schemas) {
  const { roots, definitions } = shareParts(schemas);
  const ids = Object.keys(definitions);
  const all = ids.map((id) => ({ ...definitions[id], $id: id }));
  const ajv = new Ajv({
    ...OPTIONS,
    code: { source: true, esm: true, lines: true, formats: _`formats` },
    schemas: all,
  });
  ajv.addFormat('date-time', () => true);
  const code = standalone(ajv, Object.fromEntries(ids.map((id) => [id, id])));
  const { declarations, functions } = rewrite(code, definitions);
  const compiled = Object.entries(roots).map(([name, id]) => [name, functions[id]]);
  const members = compiled.map(([name, one]) => `${JSON.stringify(name)}: ${one}`);
  const named = compiled.filter(([name]) => /^\w+$/.test(name)).map(([name, one]) => `${one} as ${name}`);
  return { declarations, object: `{ ${members.join(', ')} }`, named: `{ ${named.join(', ')} }` };
}

/** Parts with fewer characters are repeated: a call of theirs would be as long. */
const SHORTEST_PART = 70;
/** The path of a member with any name is longer to make, and is made for each call. */
const SHORTEST_PART_OF_MAP = 500;
/** Where the generated code counts its own errors. */
const COUNTED = ['if', 'then', 'else', 'propertyNames'];
const LISTS_OF_SCHEMAS = ['allOf', 'anyOf', 'oneOf'];

/** Gives each distinct schema, and each part that occurs twice, an id; and replaces such parts by references. */
function shareParts(schemas) {
  const counts = new Map();
  const isPart = (text, shortest) => text.length >= shortest && counts.get(text) > 1;

  function count(schema) {
    const text = JSON.stringify(schema);
    const before = counts.get(text) ?? 0;
    counts.set(text, before + 1);
    // What is inside of a part occurs once more only if it also occurs elsewhere.
    if (before === 0) mapParts(schema, count);
  }
  for (const text of new Set(Object.values(schemas).map((schema) => JSON.stringify(schema)))) count(JSON.parse(text));

  const definitions = {};
  const idOf = new Map();
  function define(schema) {
    const text = JSON.stringify(schema);
    if (!idOf.has(text)) {
      const id = `s${idOf.size}`;
      idOf.set(text, id);
      definitions[id] = mapParts(schema, (part, options) => share(part, options));
    }
    return idOf.get(text);
  }
  function share(schema, { shortest, isCounted }) {
    if (!isCounted && isPart(JSON.stringify(schema), shortest)) return { $ref: define(schema) };
    return mapParts(schema, (part, options) =>
      share(part, { shortest: Math.max(shortest, options.shortest), isCounted: isCounted || options.isCounted }),
    );
  }
  const roots = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, define(schema)]));
  return { roots, definitions };
}

/** Copies a schema with its parts converted. */
function mapParts(schema, convert) {
  const entries = Object.entries(schema).map(([keyword, value]) => {
    const options = {
      shortest: keyword === 'additionalProperties' ? SHORTEST_PART_OF_MAP : SHORTEST_PART,
      isCounted: COUNTED.includes(keyword),
    };
    if (keyword === 'properties') {
      const members = Object.entries(value).map(([name, part]) => [name, convert(part, options)]);
      return [keyword, Object.fromEntries(members)];
    }
    if (LISTS_OF_SCHEMAS.includes(keyword)) throw new Error(`The compiler of schemas does not know ${keyword}.`);
    const isPart = ['items', 'additionalProperties', ...COUNTED].includes(keyword) && typeof value === 'object';
    return [keyword, isPart ? convert(value, options) : value];
  });
  return Object.fromEntries(entries);
}

const FUNCTION =
  /function (validate\d+)\(data, \{instancePath="".*\{\n\/\*# sourceURL="(\w+)" \*\/;\n([\s\S]*?)\1\.errors = (?:vErrors|null);\nreturn (?:errors === 0|true);\n\}/g;
const ERROR =
  /const (err\d+) = \{(.*)\};\nif\(vErrors === null\)\{\nvErrors = \[\1\];\n\}\nelse \{\nvErrors\.push\(\1\);\n\}\nerrors\+\+;/g;
const FIELDS =
  /^instancePath(?::(?<path>.+?))?,schemaPath:"(?<place>(?:[^"\\]|\\.)*)",keyword:"(?<keyword>\w+)",params:\{(?<params>.*)\},message:(?<message>.+?)(?:,propertyName:\w+)?$/;
const CALL =
  /if\(!\((validate\d+)\((.+), \{instancePath(?::(.+))?,parentData(?::.+)?,parentDataProperty(?::.+)?,rootData\}\)\)\)\{\nvErrors = .*;\nerrors = vErrors\.length;\n\}/g;
const RESET =
  /\nif\(vErrors !== null\)\{\nif\(_errs\d+\)\{\nvErrors\.length = _errs\d+;\n\}\nelse \{\nvErrors = null;\n\}\n\}/g;
/** Whether the properties of a schema, which are many, have a name. */
const IS_KNOWN = /func\d+\.call\(schema\d+([^,]*), (key\d+)\)/g;
const START = 'let vErrors = null;\nlet errors = 0;';

/** Rewrites the code of Ajv, and returns the names of its functions by the ids of the schemas. */
function rewrite(code, definitions) {
  const functions = {};
  const lists = [];
  const rewritten = code.replace(FUNCTION, (_all, name, id, body) => {
    functions[id] = name;
    const counts = body.includes('_errs');
    const calls = body
      .replace(ERROR, (_error, _name, fields) =>
        [toCall(fields, definitions[id]), counts ? 'errors++;' : ''].join('\n'),
      )
      .replace(CALL, (_call, called, value, path = 'instancePath') => `${called}(${value}, ${path}, run);`)
      .replace(RESET, '')
      .replace(IS_KNOWN, (_test, place, key) => {
        const properties = new Function('schema', `return schema${place}`)(definitions[id]);
        return `known${lists.push(JSON.stringify(Object.keys(properties))) - 1}.has(${key})`;
      })
      .replace(START, counts ? 'let errors = 0;' : '');
    return `function ${name}(data, instancePath, run){\n${calls}\n}`;
  });
  const declarations = rewritten
    .replace('"use strict";\n', '')
    .replace(/^export const .*;$/gm, '')
    .replace(/^const schema\d+ = .*;$/gm, '')
    .replace(/^const func\d+ = require\("ajv\/dist\/runtime\/ucs2length"\)\.default;$/gm, '')
    .replace(/^const func\d+ = Object\.prototype\.hasOwnProperty;$/gm, '')
    .replace(/^const formats\d+ = formats\["date-time"\];$/gm, '')
    .replace(/\bfunc\d+\(/g, 'run.lengthOf(')
    .replace(/\bformats\d+\(/g, 'run.isDateTime(')
    .replace(/\bvalidate(\d+)\b/g, 'check$1')
    .replace(/\binstancePath\b/g, 'path');
  const sets = lists.map((list, index) => `const known${index} = new Set(${list});\n`).join('');
  const left = /vErrors|schema\d+\b|require\(|formats|rootData|\bthis\b/.exec(declarations);
  if (left)
    throw new Error(`Ajv wrote code that is not rewritten: ${declarations.slice(left.index - 200, left.index + 100)}`);
  const names = Object.entries(functions).map(([id, name]) => [id, name.replace('validate', 'check')]);
  return { declarations: sets + declarations, functions: Object.fromEntries(names) };
}

/** The keywords that `run.add` must know: it drops errors that repeat others, or lie inside of what is too large. */
const NAMED = ['type', 'enum', 'maxItems', 'maxProperties'];
/** The parameter of a keyword that names a member of the object. */
const MEMBERS = {
  required: 'missingProperty',
  additionalProperties: 'additionalProperty',
  propertyNames: 'propertyName',
};

/** Returns the call for an error. A condition has errors without fields. `if` repeats those of its branch. */
function toCall(fields, schema) {
  if (fields === '') return '';
  const match = FIELDS.exec(fields);
  if (!match) throw new Error(`Ajv wrote an error that is not understood: ${fields}`);
  const { path = 'instancePath', place, keyword, params, message } = match.groups;
  if (keyword === 'if') return '';
  const words = wordsOf(keyword, schemaAt(schema, JSON.parse(`"${place}"`)));
  const given = [path, words === undefined ? message : JSON.stringify(words)];
  const member = MEMBERS[keyword];
  if (member) given.push('"member"', params.slice(`${member}: `.length));
  else if (NAMED.includes(keyword)) given.push(JSON.stringify(keyword));
  return `run.add(${given.join(', ')});`;
}

/** Returns the schema whose keyword a JSON Pointer names, as a fragment. */
function schemaAt(schema, place) {
  const tokens = place.split('/').slice(1, -1);
  return tokens.reduce(
    (part, token) => part[decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')],
    schema,
  );
}

/** Returns the message of an issue. Undefined: that of Ajv. */
function wordsOf(keyword, schema) {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not known here';
    case 'enum':
      return `must be one of ${schema.enum.join(', ')}`;
    case 'pattern':
      return `must be ${String(schema.description ?? `text that matches ${schema.pattern}`)}`;
    case 'format':
      return 'must be an ISO 8601 date and time';
    case 'type':
      return `must be ${Array.isArray(schema.type) ? describeTypes(schema.type) : schema.type}`;
    default:
      return undefined;
  }
}

const ALTERNATIVES = new Intl.ListFormat('en', { type: 'disjunction' });

/** Words alternative JSON types: `an integer or null`. Ajv would join them by commas. */
function describeTypes(types) {
  return ALTERNATIVES.format(
    types.map((type) => (type === 'null' ? type : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`)),
  );
}

module.exports = { compileSchemas, SHORTER };
