import type { Command, Option } from 'commander';
import { type CommandIo, createOutput, usageError } from '../output.js';

/** Adds `completion`, which prints a script for a shell. */
export function addCompletionCommand(program: Command, io: CommandIo): void {
  program
    .command('completion')
    .description('print a completion script: source <(flags completion bash)')
    .argument('<shell>', 'bash, zsh or fish')
    .action((shell: string) => {
      const write = new Map(Object.entries(SCRIPTS)).get(shell);
      if (!write) throw usageError(`There is no completion for ${shell}: bash, zsh, fish.`);
      createOutput(io, false).raw(write(program));
    });
}

const namesOf = ({ commands }: Command) => commands.map((one) => one.name());
const optionsOf = ({ options }: Command) => options.flatMap(({ long }) => (long ? [long] : []));

/** After an option that takes a value, fish offers files instead of commands. */
const fishOption = ({ long, required }: Option) => `-l ${long?.slice(2)}${required ? ' -r' : ''}`;

/** Returns the words that may follow a command: its subcommands and options, and the common options. */
function wordsAfter(command: Command, program: Command): string {
  return [...namesOf(command), ...optionsOf(command), ...optionsOf(program)].join(' ');
}

const SCRIPTS: Readonly<Record<string, (program: Command) => string>> = {
  bash: (program) => `_flags() {
  local word=\${COMP_WORDS[COMP_CWORD]} words
  if [ "$COMP_CWORD" -eq 1 ]; then words='${wordsAfter(program, program)}'
  else case \${COMP_WORDS[1]} in
${program.commands.map((one) => `    ${one.name()}) words='${wordsAfter(one, program)}' ;;`).join('\n')}
    *) words='${optionsOf(program).join(' ')}' ;;
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ \${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -F _flags flags
`,
  // The last line completes at once when zsh loads the script as the function _flags from fpath.
  zsh: (program) => `#compdef flags
_flags() {
  local -a commands
  commands=(${program.commands.map((one) => `'${one.name()}:${quoted(one.description())}'`).join(' ')})
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case $words[2] in
${program.commands.map((one) => `    ${one.name()}) compadd -- ${wordsAfter(one, program)} ;;`).join('\n')}
  esac
  _files
}
compdef _flags flags
if [ "$funcstack[1]" = _flags ]; then _flags "$@"; fi
`,
  fish: (program) =>
    [
      ...program.commands.flatMap((one) => [
        `complete -c flags -f -n __fish_use_subcommand -a ${one.name()} -d '${quoted(one.description())}'`,
        ...[...namesOf(one).map((name) => `-a ${name}`), ...one.options.map(fishOption)].map(
          (words) => `complete -c flags -n '__fish_seen_subcommand_from ${one.name()}' ${words}`,
        ),
      ]),
      ...program.options.map((option) => `complete -c flags ${fishOption(option)}`),
      '',
    ].join('\n'),
};

/** Escapes a description for single quotes, and for zsh, which splits at colons. */
function quoted(text: string): string {
  return text.replaceAll("'", '’').replaceAll(':', ';');
}
