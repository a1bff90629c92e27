import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { flagsCommand, temporaryFolder } from './command-line.js';

const pathOf = temporaryFolder();

async function scriptFor(shell: string): Promise<string> {
  const path = pathOf(shell);
  writeFileSync(path, (await flagsCommand(['completion', shell])).out);
  return path;
}

/** The options that make a shell read a script without running it. */
const CHECKS = { bash: '-n', zsh: '-n', fish: '--no-execute' };
const INSTALLED = Object.entries(CHECKS).filter(([shell]) => spawnSync(shell, ['--version']).status === 0);

it.each(INSTALLED)('is a script that %s accepts', async (shell, option) => {
  const { status, stderr } = spawnSync(shell, [option, await scriptFor(shell)], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

it.each([
  [['flags', 'rol'], ['rollout']],
  [['flags', 'tokens', 'r'], ['rotate']],
  [
    ['flags', 'list', '--st'],
    ['--stale', '--store'],
  ],
])('completes %j in bash', async (words, expected) => {
  const program = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _flags; echo "\${COMPREPLY[@]}"`;
  const args = ['-c', program, 'bash', await scriptFor('bash'), ...words];
  const { stdout, stderr } = spawnSync('bash', args, { encoding: 'utf8' });
  expect({ stderr, words: stdout.trim().split(' ') }).toEqual({ stderr: '', words: expected });
});

it('offers values after an option that takes one in fish, and files only where files are arguments', async () => {
  const { out } = await flagsCommand(['completion', 'fish']);
  expect(out).toMatch(/^complete -c flags -f -n __fish_use_subcommand -a import -d '/m);
  expect(out).toMatch(/^complete -c flags -l store -r$/m);
  expect(out).toMatch(/^complete -c flags -l json$/m);
});

it('completes at once when zsh loads the script as a function', async () => {
  const { out } = await flagsCommand(['completion', 'zsh']);
  expect(out).toMatch(/^#compdef flags\n/);
  expect(out).toMatch(/\nif \[ "\$funcstack\[1\]" = _flags \]; then _flags "\$@"; fi\n$/);
});
