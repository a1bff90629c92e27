import type { Command } from 'commander';
import { usageError } from '../errors.js';
import type { CommandIo } from '../output.js';

/** Adds `completion`, which prints a script for a shell. */
export function addCompletionCommand(program: Command, io: CommandIo): void {
  program
    .command('completion')
    .description('print a completion script: source <(flags completion bash)')
    .argument('<shell>', 'bash, zsh or fish')
    .action((shell: string) => {
      const write = SCRIPTS[shell];
      if (!Object.hasOwn(SCRIPTS, shell) || !write)
        throw usageError(`There is no completion for ${shell}: bash, zsh, fish.`);
      io.stdout.write(write(describe(program)));
    });
}

interface Words {
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly string[];
}

function describe(program: Command): Words {
  return {
    commands: program.commands.map((one) => ({ name: one.name(), description: one.description() })),
    options: program.options.flatMap(({ long }) => (long ? [long] : [])),
  };
}

const SCRIPTS: Readonly<Record<string, (words: Words) => string>> = {
  bash: ({ commands, options }) => `_flags() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')}' -- "$word"))
  elif [[ $word == -* ]]; then COMPREPLY=($(compgen -W '${options.join(' ')}' -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -F _flags flags
`,
  zsh: ({ commands, options }) => `#compdef flags
_flags() {
  local -a commands
  commands=(${commands.map(({ name, description }) => `'${name}:${quoted(description)}'`).join(' ')})
  if (( CURRENT == 2 )); then _describe command commands
  else _values -w option ${options.join(' ')}; _files; fi
}
compdef _flags flags
`,
  fish: ({ commands, options }) =>
    [
      ...commands.map(
        ({ name, description }) => `complete -c flags -n __fish_use_subcommand -a ${name} -d '${quoted(description)}'`,
      ),
      ...options.map((option) => `complete -c flags -l ${option.slice(2)}`),
      '',
    ].join('\n'),
};

/** Escapes a description for single quotes. */
function quoted(text: string): string {
  return text.replaceAll("'", '’').replaceAll(':', ';');
}
