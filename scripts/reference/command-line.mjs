// The command line, from the help of each command.
import { code, table } from './markdown.mjs';
import { load } from './source.mjs';

/** An option that so many commands have is described once. */
const SHARED = 5;

export async function commandLine() {
  const { run } = await load('packages/cli/src/run.ts');
  const [program, commands] = await withWideTerminal(async () => {
    const help = await helpOf(run, []);
    return [help, await commandsOf(run, help)];
  });
  const all = commands.flatMap(({ text }) => optionsOf(text).map((row) => row.join('\n')));
  const isShared = (row) => all.filter((other) => other === row.join('\n')).length >= SHARED;
  const shared = [...new Set(all)].map((row) => row.split('\n')).filter(isShared);
  const [, codes] = /^Exit codes: (.*)\.$/m.exec(program.text);
  return `# Command line

Every command of ${code('flags')} with its arguments and options, as ${code('--help')} shows them. [Command line](../command-line.md) shows them at work.

${table(
  ['Command', 'Does'],
  commands.map(({ usage, meaning }) => [code(usage.replace(/^flags /, '').replace(' [options]', '')), meaning]),
)}
## Options of every command

${table(['Option', 'Meaning'], optionsOf(program.text))}
## Options of changes

Commands that change flags or projects take these, as their sections below say.

${table(['Option', 'Meaning'], shared)}
## Exit codes

${table(
  ['Code', 'Meaning'],
  codes.split(', ').map((text) => [text.replace(/ .*/, ''), text.replace(/^\d+ /, '')]),
)}
${commands.map((command) => sectionOf(command, isShared)).join('')}`;
}

function sectionOf({ name, usage, meaning, text }, isShared) {
  const explained = rowsOf(text, 'Arguments').filter(([, meaning]) => meaning !== '');
  const rows = [...explained, ...optionsOf(text)];
  const own = rows.filter((row) => !isShared(row));
  if (rows.length === 0) return '';
  const also = own.length < rows.length ? ' Takes the [options of changes](#options-of-changes).' : '';
  const list = own.length > 0 ? `\n${table(['Argument or option', 'Meaning'], own)}` : '';
  return `## flags ${name}\n\n${code(usage)}: ${meaning}.${also}\n${list}\n`;
}

/** The commands that a command has, each followed by its own. */
async function commandsOf(run, { text, names = [] }) {
  const found = rowsOf(text, 'Commands').map(([name]) => name.replace(/ .*/, ''));
  const commands = [];
  for (const name of found.filter((one) => one !== 'help')) {
    const help = await helpOf(run, [...names, name]);
    const inner = await commandsOf(run, help);
    commands.push(...(inner.length > 0 ? inner : [help]));
  }
  return commands;
}

async function helpOf(run, names) {
  const parts = [];
  const out = { write: (text) => parts.push(text) };
  await run([...names, '--help'], { env: {}, stdin: process.stdin, stdout: out, stderr: out });
  // The example of a time is tomorrow.
  const text = parts.join('').replaceAll(/\d{4}-\d\d-\d\d(?=T09:00)/g, '2027-05-01');
  const [, usage, meaning] = /^Usage: (.*)\n\n(.*)$/m.exec(text);
  return { names, name: names.join(' '), usage, meaning, text };
}

/** Commander asks the terminal for its width, and would break lines. */
async function withWideTerminal(read) {
  const { isTTY, columns } = process.stdout;
  Object.assign(process.stdout, { isTTY: true, columns: 1000 });
  const result = await read();
  Object.assign(process.stdout, { isTTY, columns });
  return result;
}

function optionsOf(text) {
  return rowsOf(text, 'Options').filter(([option]) => !option.includes('--help') && !option.includes('--version'));
}

/** The rows below a heading of the help: a name in backquotes, and its meaning. */
function rowsOf(text, heading) {
  const [, lines = ''] = new RegExp(`^${heading}:\\n((?:  .*\\n)*)`, 'm').exec(text) ?? [];
  return (
    lines.match(/^ {2}\S.*$/gm)?.map((line) => {
      const [, name, meaning = ''] = /^ {2}(.*?)(?: {2,}(.*))?$/.exec(line);
      return [heading === 'Commands' ? name : code(name), meaning];
    }) ?? []
  );
}
