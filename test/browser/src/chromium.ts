import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, createBrotliDecompress } from 'node:zlib';

/** The executable and arguments of a browser. */
export interface Chromium {
  readonly executablePath: string;
  readonly env: Readonly<Record<string, string>>;
}

const PACKAGE = dirname(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')));
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');

/**
 * The Chromium of the tests: the one that `FLAGS_CHROMIUM` names, or the one of the development dependencies, which is
 * for Linux on x64. Undefined where there is none.
 */
export async function findChromium(): Promise<Chromium | undefined> {
  const named = process.env.FLAGS_CHROMIUM;
  if (named) return { executablePath: named, env: {} };
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  return bundledChromium();
}

/** Unpacks the browser once per version. Concurrent runs each unpack under their own name; the first rename wins. */
async function bundledChromium(): Promise<Chromium> {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
  const folder = join(ROOT, 'node_modules/.cache', `chromium-${version}`);
  if (!existsSync(folder)) await unpack(folder);
  return {
    executablePath: join(folder, 'chromium'),
    env: {
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
      ...(!hasLibrary('libnss3.so') && { LD_LIBRARY_PATH: join(folder, 'al2023/lib') }),
    },
  };
}

function packageRoot(): string {
  let folder = PACKAGE;
  while (!existsSync(join(folder, 'bin/chromium.br'))) folder = dirname(folder);
  return folder;
}

async function unpack(folder: string): Promise<void> {
  const bin = join(packageRoot(), 'bin');
  const temporary = `${folder}.${process.pid}`;
  mkdirSync(temporary, { recursive: true });
  try {
    const executable = join(temporary, 'chromium');
    await pipeline(createReadStream(join(bin, 'chromium.br')), createBrotliDecompress(), createWriteStream(executable));
    chmodSync(executable, 0o755);
    for (const archive of ['al2023', 'fonts']) {
      const target = join(temporary, archive);
      mkdirSync(target);
      const input = brotliDecompressSync(readFileSync(join(bin, `${archive}.tar.br`)));
      execFileSync('tar', ['-x', '-C', target], { input });
    }
    writeFileSync(join(temporary, 'fonts.conf'), fontConfiguration(folder));
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function hasLibrary(name: string): boolean {
  try {
    return execFileSync('ldconfig', ['-p'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).includes(name);
  } catch {
    return false;
  }
}

/** The package's font first, so that pages look the same on every machine. */
function fontConfiguration(folder: string): string {
  return `<?xml version="1.0"?>
<fontconfig>
  <dir>${join(folder, 'fonts/fonts')}</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${join(folder, 'cache')}</cachedir>
  <alias><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
  <alias><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias>
</fontconfig>
`;
}
