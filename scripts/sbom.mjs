// Writes a bill of materials for each package into sbom/ (CycloneDX).
//
// pnpm lists the dependencies that npm installs. The admin page is a bundle: its libraries are in the package itself, and are
// added here. Fails if a component has no licence, or another one than the allowed.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePage } from '../packages/ui/bundle/page.mjs';

const PNPM = 'pnpm@12.21.0';
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const FOLDER = join(ROOT, 'sbom');
/** SECURITY.md names them. */
const ALLOWED = new Set(['MIT', 'ISC', 'Apache-2.0', 'BSD-3-Clause', 'BlueOak-1.0.0']);

rmSync(FOLDER, { recursive: true, force: true });
const selection = ['--filter', './packages/*', 'sbom', '--split', '--prod', '--sbom-format', 'cyclonedx'];
const options = ['--yes', '--prefer-offline', PNPM, ...selection, '--out', join(FOLDER, '%s-%v.cdx.json')];
const { status } = spawnSync('npx', options, { cwd: ROOT, stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

const { packages } = await bundlePage();
for (const name of readdirSync(FOLDER)) {
  const bill = JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));
  if (bill.metadata.component.purl.startsWith('pkg:npm/%40flags/ui@')) {
    addBundled(bill);
    writeFileSync(join(FOLDER, name), `${JSON.stringify(bill, undefined, 2)}\n`);
  }
  for (const { purl, licenses } of bill.components) {
    const names = (licenses ?? []).flatMap(
      ({ license, expression }) => license?.id ?? license?.name ?? expression ?? [],
    );
    const other = names.filter((one) => !one.split(/ (?:OR|AND) |[()]/).some((part) => ALLOWED.has(part)));
    if (other.length > 0) throw new Error(`${name}: ${purl} has the licence ${other.join(', ')}.`);
  }
  const unlicensed = bill.components.filter(({ licenses }) => !licenses?.length).map(({ purl }) => purl);
  if (unlicensed.length > 0) throw new Error(`${name} has components without a licence: ${unlicensed.join(', ')}`);
}

/** Adds the packages in the script of the page. */
function addBundled(bill) {
  const components = packages.map(({ name: fullName, version, license }) => {
    const [name, group] = fullName.split('/').reverse();
    const purl = `pkg:npm/${fullName.replace('@', '%40')}@${version}`;
    const licenses = license ? [{ license: { id: license } }] : [];
    return {
      type: 'library',
      ...(group && { group }),
      name,
      version,
      purl,
      'bom-ref': purl,
      scope: 'required',
      licenses,
    };
  });
  bill.components.push(...components);
  const [page] = bill.dependencies;
  page.dependsOn.push(...components.map(({ purl }) => purl));
  bill.dependencies.push(...components.map(({ purl }) => ({ ref: purl, dependsOn: [] })));
}
