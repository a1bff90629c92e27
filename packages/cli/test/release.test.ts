import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { VERSION } from '../../http/src/features/environments/session.js';
import { temporaryFolder } from './command-line.js';

const ROOT = join(__dirname, '../../..');
const FOLDERS = readdirSync(join(ROOT, 'packages'));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const manifestOf = (path: string) => JSON.parse(read(`${path}/package.json`));
const path = temporaryFolder();

interface Step {
  readonly name?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly with?: object;
  readonly env?: object;
}

/** Copies files of the repository into the temporary folder. */
function copy(...files: readonly string[]): void {
  for (const file of files) cpSync(join(ROOT, file), path(file), { recursive: true });
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(path(file), change(readFileSync(path(file), 'utf8')));
}

/** Runs a command in the temporary folder. Programs of its `bin` come first. */
function run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const PATH = `${path('bin')}:${dirname(process.execPath)}:${process.env.PATH}`;
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: path('.'),
    env: { ...process.env, FLAGS_RELEASE: '', PATH, ...env },
    encoding: 'utf8',
  });
  return { status, lines: (stdout + stderr).trim().split('\n') };
}

/** Puts a program into the folder `bin`. */
function stub(name: string, script: string): void {
  mkdirSync(path('bin'), { recursive: true });
  writeFileSync(path(`bin/${name}`), `#!/bin/sh\n${script}\n`);
  chmodSync(path(`bin/${name}`), 0o755);
}

describe('the version', () => {
  it.each(FOLDERS)('is the same in %s, its changelog, and what tells it', (folder) => {
    expect(manifestOf(`packages/${folder}`).version).toBe(VERSION);
    expect(read(`packages/${folder}/CHANGELOG.md`)).toMatch(`\n## ${VERSION}\n`);
    const ranges = Object.entries(manifestOf(`packages/${folder}`).dependencies ?? {});
    for (const [name, range] of ranges) if (name.startsWith('@flags/')) expect(range).toBe('workspace:^');
  });

  it('heads the changelog of the repository', () => {
    expect(read('CHANGELOG.md').match(/^## (\S+)/m)?.[1]).toBe(VERSION);
  });

  it.each(['nextjs', 'testing'])('is the one that the example %s installs', (example) => {
    const { dependencies, devDependencies } = manifestOf(`examples/${example}`);
    const ours = Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) => name.startsWith('@flags/'));
    expect(new Set(ours.map(([, range]) => range))).toEqual(new Set([`^${VERSION}`]));
  });

  it('is checked, and written where a file cannot read it', () => {
    copy('scripts', 'examples/nextjs/package.json', 'examples/testing/package.json', '.pnpmfile.cjs', 'pnpm-lock.yaml');
    for (const folder of FOLDERS) copy(`packages/${folder}/package.json`);
    copy('packages/http/src/features/environments/session.ts');
    execFileSync('git', ['init', '--quiet'], { cwd: path('.') });
    execFileSync('git', ['add', '.'], { cwd: path('.') });
    for (const folder of FOLDERS) {
      edit(`packages/${folder}/package.json`, (text) => text.replace(`"version": "${VERSION}"`, '"version": "7.8.9"'));
    }
    const refused = run('node', ['scripts/project.mjs']);
    expect(refused.status).toBe(1);
    expect(refused.lines).toContain(
      `examples/nextjs/package.json: ^${VERSION}, ^${VERSION} is not ^7.8.9. Run node scripts/project.mjs --write`,
    );
    expect(run('node', ['scripts/project.mjs', '--write']).status).toBe(0);
    expect(run('node', ['scripts/project.mjs']).status).toBe(0);
    const session = readFileSync(path('packages/http/src/features/environments/session.ts'), 'utf8');
    expect(session).toContain("export const VERSION = '7.8.9';");
  });
});

describe('.ci/check-release', () => {
  const { placeholders, ...project } = JSON.parse(read('scripts/project.json'));
  const REHEARSED = FOLDERS.map((folder) => `rehearsed flags-${folder}-${VERSION}.tgz`);
  const DIGEST = `sha256:${'0f'.repeat(32)}`;

  beforeEach(() => {
    copy('.ci/check-release', 'scripts', 'examples/nextjs/package.json', 'examples/testing/package.json');
    copy('packages/http/src/features/environments/session.ts', 'CHANGELOG.md', 'Dockerfile', 'LICENSE');
    for (const folder of FOLDERS) {
      for (const file of ['package.json', 'CHANGELOG.md', 'LICENSE']) copy(`packages/${folder}/${file}`);
    }
    mkdirSync(path('packed'));
    for (const folder of FOLDERS) writeFileSync(path(`packed/flags-${folder}-${VERSION}.tgz`), '');
    stub('npm', 'echo "rehearsed $(basename "$2")"');
  });

  const rehearse = (env = {}) => run('.ci/check-release', [], { FLAGS_PACKED: path('packed'), ...env });

  /** What the owner has to fill in: the sentence that names it begins with its file. */
  const missing = [
    ...placeholders.map((name: string) => `scripts/project.json: the ${name} "${project[name]}" is a placeholder.`),
    'Dockerfile: the base image has no digest.',
  ];

  it('names what the owner has to fill in, and rehearses the publication of each package', () => {
    const { status, lines } = rehearse();
    expect(status).toBe(0);
    for (const sentence of missing) expect(lines).toContainEqual(expect.stringContaining(sentence));
    expect(lines.filter((line) => line.startsWith('rehearsed'))).toEqual(REHEARSED);
  });

  it('refuses it in a release, and then publishes nothing', () => {
    const { status, lines } = rehearse({ FLAGS_RELEASE: '1' });
    expect(status).toBe(1);
    for (const sentence of missing) expect(lines).toContainEqual(expect.stringContaining(sentence));
    expect(lines.join('\n')).not.toContain('rehearsed');
  });

  it('accepts a release in which all is filled in', () => {
    edit('scripts/project.json', (text) => text.replace(/"placeholders": \[.*\]/, '"placeholders": []'));
    edit('CHANGELOG.md', (text) => text.replace('(unreleased)', '(2026-12-01)'));
    edit('Dockerfile', (text) => text.replace(/^ARG BASE=([^@\n]+).*$/m, `ARG BASE=$1@${DIGEST}`));
    const { status, lines } = rehearse({ FLAGS_RELEASE: '1' });
    expect({ status, lines }).toEqual({ status: 0, lines: REHEARSED });
  });

  it('refuses a package whose names differ', () => {
    edit('packages/core/package.json', (text) => text.replace('"homepage": "', '"homepage": "https://other.example/'));
    const { status, lines } = rehearse();
    expect(status).toBe(1);
    expect(lines).toContainEqual(expect.stringContaining('packages/core/package.json: homepage differ'));
  });
});

describe('the notes of a release', () => {
  it('are what the changelogs say about the version, with links to the files of the tag', () => {
    copy('scripts', 'CHANGELOG.md');
    for (const folder of FOLDERS) copy(`packages/${folder}/package.json`, `packages/${folder}/CHANGELOG.md`);
    edit('CHANGELOG.md', (text) => `${text}\n## 0.0.1\n\nAnother version.\n`);
    const { status, lines } = run('node', ['scripts/release/notes.mjs', `v${VERSION}`]);
    expect(status).toBe(0);
    const notes = lines.join('\n');
    expect(notes).toMatch(/^Feature flags inside your own Node service/);
    expect(notes).toContain(`/blob/v${VERSION}/docs/README.md)`);
    expect(notes).not.toContain('Another version.');
    for (const folder of FOLDERS) expect(lines).toContain(`### ${manifestOf(`packages/${folder}`).name}`);
  });

  it('are refused for another tag, and in a release for a version without its date', () => {
    copy('scripts', 'CHANGELOG.md');
    for (const folder of FOLDERS) copy(`packages/${folder}/package.json`, `packages/${folder}/CHANGELOG.md`);
    expect(run('node', ['scripts/release/notes.mjs', 'v9.0.0'])).toEqual({
      status: 1,
      lines: [`The tag v9.0.0 is not v${VERSION}, the version of packages/core/package.json.`],
    });
    edit('CHANGELOG.md', (text) => text.replace(/^## .*$/m, `## ${VERSION} (unreleased)`));
    expect(run('node', ['scripts/release/notes.mjs'], { FLAGS_RELEASE: '1' })).toEqual({
      status: 1,
      lines: [`CHANGELOG.md: ${VERSION} is "unreleased". Write the date into its heading.`],
    });
  });
});

describe('the release workflow', () => {
  const { jobs, on, permissions } = parse(read('.github/workflows/release.yml'));
  const { publish } = jobs;
  const steps: readonly Step[] = publish.steps;
  const at = (name: string) => {
    const index = steps.findIndex((step) => step.name === name);
    expect(index).toBeGreaterThanOrEqual(0);
    return index;
  };
  const scriptOf = (name: string) => steps[at(name)]?.run ?? '';

  it('publishes a tag by its identity, without a token of npm', () => {
    expect(on).toEqual({ push: { tags: ['v*'] } });
    expect(permissions).toEqual({ contents: 'read' });
    expect(publish.permissions).toEqual({ contents: 'write', 'id-token': 'write' });
    expect(publish.environment).toBe('npm');
    expect(JSON.stringify(steps)).not.toMatch(/NPM_TOKEN|NODE_AUTH_TOKEN|secrets\./);
    for (const { uses } of steps) if (uses) expect(uses).toMatch(/^actions\/[a-z-]+@v\d+$/);
  });

  it('has an npm and a Node that can publish so', () => {
    const [, major, minor] = /^npm install --global npm@(\d+)\.(\d+)\.\d+$/.exec(scriptOf('Install npm')) ?? [];
    expect(Number(major) * 100 + Number(minor)).toBeGreaterThanOrEqual(1106);
    const node = steps.find(({ uses }) => uses?.startsWith('actions/setup-node@'));
    expect(node?.with).toEqual({ 'node-version': 24, 'registry-url': 'https://registry.npmjs.org' });
  });

  it('checks everything, placeholders too, before it publishes', () => {
    const order = ['Write the notes', 'Write the digest of the base image', 'Check everything', 'Build the image'];
    const indexes = [...order, 'Publish', 'Release on GitHub'].map(at);
    expect(indexes).toEqual(indexes.toSorted((one, other) => one - other));
    expect(steps[at('Check everything')]).toMatchObject({
      run: '.ci/run',
      env: { FLAGS_RELEASE: '1', FLAGS_AUDIT: 'required' },
    });
  });

  it.each(FOLDERS)('states where %s was built', (folder) => {
    const { repository } = JSON.parse(read('scripts/project.json'));
    expect(manifestOf(`packages/${folder}`)).toMatchObject({
      repository: { url: `git+${repository}.git`, directory: `packages/${folder}` },
      publishConfig: { access: 'public', provenance: true },
    });
  });

  it('writes the digest that the registry answers into the Dockerfile', () => {
    copy('Dockerfile');
    const before = readFileSync(path('Dockerfile'), 'utf8');
    const [, base] = /^ARG BASE=([^@\n]+)/m.exec(before) ?? [];
    const digest = `sha256:${'ab'.repeat(32)}`;
    stub('docker', `echo "$@" >asked; echo ${digest}`);
    const script = scriptOf('Write the digest of the base image');
    // GitHub runs a step with these options.
    for (let time = 1; time <= 2; time++) expect(run('bash', ['-e', '-o', 'pipefail', '-c', script]).status).toBe(0);
    expect(readFileSync(path('asked'), 'utf8')).toBe(
      `buildx imagetools inspect ${base} --format {{.Manifest.Digest}}\n`,
    );
    expect(readFileSync(path('Dockerfile'), 'utf8')).toBe(
      before.replace(/^ARG BASE=.*$/m, `ARG BASE=${base}@${digest}`),
    );
  });

  it('fails, and leaves the Dockerfile, when the registry does not answer', () => {
    copy('Dockerfile');
    stub('docker', 'exit 1');
    const script = scriptOf('Write the digest of the base image');
    expect(run('bash', ['-e', '-o', 'pipefail', '-c', script]).status).toBe(1);
    expect(readFileSync(path('Dockerfile'), 'utf8')).toBe(read('Dockerfile'));
  });

  describe('publishes', () => {
    beforeEach(() => {
      copy('scripts');
      mkdirSync(path('packed'));
      for (const [name, dependencies] of [
        ['cli', { '@flags/core': '^0.1.0', '@flags/http': '^0.1.0' }],
        ['core', { uuid: '11.1.1' }],
        ['http', { '@flags/core': '^0.1.0' }],
      ] as const) {
        mkdirSync(path(`${name}/package`), { recursive: true });
        writeFileSync(
          path(`${name}/package/package.json`),
          JSON.stringify({ name: `@flags/${name}`, version: '0.1.0', dependencies }),
        );
        execFileSync('tar', ['-czf', path(`packed/flags-${name}-0.1.0.tgz`), '-C', path(name), 'package']);
      }
    });

    /** A registry that has a version, or answers something else. */
    const registry = (answers: Readonly<Record<string, string>>) => {
      const cases = Object.entries(answers).map(([name, answer]) => `@flags/${name}@*) ${answer};;`);
      stub(
        'npm',
        `if [ "$1" = publish ]; then shift; echo "published $@"; exit "\${FAILS:-0}"; fi
        case "$2" in ${cases.join('\n')}
        *) echo '{ "error": { "code": "E404" } }'; exit 1;; esac`,
      );
    };
    const publishing = (env = {}) => run('node', ['scripts/release/publish.mjs', 'packed'], env);
    const published = (name: string) => `published packed/flags-${name}-0.1.0.tgz --access public --provenance`;

    it('each package after those that it needs, with its provenance', () => {
      registry({});
      expect(publishing()).toEqual({ status: 0, lines: ['core', 'http', 'cli'].map(published) });
    });

    it('what is missing, and skips a version that exists', () => {
      registry({ core: `echo '"0.1.0"'`, http: `echo '"0.1.0"'` });
      const { status, lines } = publishing();
      expect(status).toBe(0);
      expect(lines.toSorted()).toEqual([
        '@flags/core@0.1.0 is published already.',
        '@flags/http@0.1.0 is published already.',
        published('cli'),
      ]);
    });

    it('nothing when the registry does not say what it has', () => {
      registry({ core: `echo '{ "error": { "code": "ECONNREFUSED", "summary": "away" } }'; exit 1` });
      expect(publishing()).toEqual({
        status: 1,
        lines: ['The registry does not say whether it has @flags/core@0.1.0: away'],
      });
    });

    it('no further package after a failure', () => {
      registry({});
      const { status, lines } = publishing({ FAILS: '1' });
      expect(status).toBe(1);
      expect(lines).toEqual([
        published('core'),
        '@flags/core@0.1.0 could not be published. Start the workflow again when the cause is gone.',
      ]);
    });
  });
});
